import { expect, test } from "vitest";

import { visibilityQuery } from "./visibility-query.ts";

test("without wishes it is all sales", () => {
  expect(visibilityQuery({})).toBe('WorkflowType IN ("sale")');
});

test("with jobs, those that wait for nobody any more are left out", () => {
  expect(visibilityQuery({ creditNotes: true, jobs: true, attention: true, connection: "shop" })).toBe(
    '(WorkflowType IN ("sale", "creditNote") OR (WorkflowType IN ("registerItems", "syncPurchases", "syncBillPayments", "processSyncBatch", "reconcile") AND ExecutionStatus = "Running"))' +
      " AND FiscalAttention IS NOT NULL" +
      ' AND (WorkflowId STARTS_WITH "sale/shop/" OR WorkflowId STARTS_WITH "credit-note/shop/" OR WorkflowId STARTS_WITH "register-items/shop/"' +
      ' OR WorkflowId STARTS_WITH "sync-purchases/shop/" OR WorkflowId STARTS_WITH "reconcile/shop/" OR WorkflowId STARTS_WITH "sync-batch/shop/"' +
      ' OR WorkflowId = "sync-bill-payments/shop")',
  );
});

test("an operator's own filter cannot widen what is meant besides it", () => {
  const query = visibilityQuery({ query: "a = 1 OR b = 2", creditNotes: true, openOnly: true, business: 'b"1' });
  expect(query).toBe(
    'WorkflowType IN ("sale", "creditNote") AND (a = 1 OR b = 2) AND ExecutionStatus = "Running" AND FiscalBusiness = "b\\"1"',
  );
});
