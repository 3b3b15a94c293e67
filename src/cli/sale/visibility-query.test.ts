import { expect, test } from "vitest";

import { visibilityQuery } from "./visibility-query.ts";

test("the query for sales without filters finds all sales", () => {
  expect(visibilityQuery({})).toBe('WorkflowType IN ("sale")');
});

test("the query for sales that need an operator finds open ones only, and the one for ended sales closed ones only", () => {
  expect(visibilityQuery({ attention: true })).toBe(
    'WorkflowType IN ("sale") AND FiscalAttention IS NOT NULL AND ExecutionStatus = "Running"',
  );
  expect(visibilityQuery({ ended: true })).toBe(
    'WorkflowType IN ("sale") AND ExecutionStatus IN ("Terminated", "Failed", "TimedOut", "Canceled")',
  );
});

test("an operator's own filter cannot widen the query beyond its other filters", () => {
  const query = visibilityQuery({ query: "a = 1 OR b = 2", openOnly: true, business: 'b"1' });
  expect(query).toBe(
    'WorkflowType IN ("sale") AND (a = 1 OR b = 2) AND ExecutionStatus = "Running" AND FiscalBusiness = "b\\"1"',
  );
});
