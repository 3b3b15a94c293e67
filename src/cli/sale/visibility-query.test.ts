import { expect, test } from "vitest";

import { WORKFLOW_TYPES } from "../../contract/index.ts";
import { ENDED, JOB_TYPES, jobsQuery, RUNNING, salesQuery } from "./visibility-query.ts";

test("the query for sales without filters finds all sales", () => {
  expect(salesQuery({})).toBe('WorkflowType IN ("sale")');
});

test("the query for open sales finds those that run, and the one for ended sales closed ones only", () => {
  expect(salesQuery({ business: 'b"1' }, RUNNING)).toBe(
    'WorkflowType IN ("sale") AND ExecutionStatus = "Running" AND FiscalBusiness = "b\\"1"',
  );
  expect(salesQuery({ connection: "shop" }, ENDED)).toBe(
    'WorkflowType IN ("sale") AND ExecutionStatus IN ("Terminated", "Failed", "TimedOut", "Canceled") AND WorkflowId STARTS_WITH "sale/shop/"',
  );
});

const TYPES = 'WorkflowType IN ("registerItems", "syncPurchases", "syncBillPayments", "processSyncBatch", "reconcile")';

test("every workflow is a sale, a question to the ledger, a reading of its events, a wait for an outcome, the start by a Schedule, or a job", () => {
  const { sale, findSale, firstOutcome, readEvents, scheduled } = WORKFLOW_TYPES;
  const known = [sale, findSale, firstOutcome, readEvents, scheduled, ...JOB_TYPES].toSorted();
  expect(known).toEqual(Object.values(WORKFLOW_TYPES).toSorted());
});

test("jobs are listed by their latest run, and those that need an operator while they run", () => {
  expect(jobsQuery({})).toBe(`${TYPES} AND ExecutionStatus != "ContinuedAsNew"`);
  expect(jobsQuery({ attention: true, business: "biz_1" })).toBe(
    `${TYPES} AND ExecutionStatus != "ContinuedAsNew" AND FiscalAttention IS NOT NULL AND ExecutionStatus = "Running" AND FiscalBusiness = "biz_1"`,
  );
});

test("a connection is not taken for another one whose name begins with it", () => {
  const query = jobsQuery({ connection: "till" });
  expect(query).toContain('WorkflowId STARTS_WITH "sync-purchases/till/"');
  expect(query).toContain('WorkflowId = "sync-bill-payments/till"');
});
