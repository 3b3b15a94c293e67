import { expect, test } from "vitest";

import { visibilityQuery } from "./visibility-query.ts";

test("without wishes it is all sales", () => {
  expect(visibilityQuery({})).toBe('WorkflowType IN ("sale")');
});

test("only open sales need an operator, and only closed ones have ended", () => {
  expect(visibilityQuery({ attention: true })).toBe(
    'WorkflowType IN ("sale") AND FiscalAttention IS NOT NULL AND ExecutionStatus = "Running"',
  );
  expect(visibilityQuery({ ended: true })).toBe(
    'WorkflowType IN ("sale") AND ExecutionStatus IN ("Terminated", "Failed", "TimedOut", "Canceled")',
  );
});

test("an operator's own filter cannot widen what is meant besides it", () => {
  const query = visibilityQuery({ query: "a = 1 OR b = 2", creditNotes: true, openOnly: true, business: 'b"1' });
  expect(query).toBe(
    'WorkflowType IN ("sale", "creditNote", "correctSale") AND (a = 1 OR b = 2) AND ExecutionStatus = "Running" AND FiscalBusiness = "b\\"1"',
  );
});
