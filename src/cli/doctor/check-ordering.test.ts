import { expect, test } from "vitest";

import { describeOrdering, judgeOrdering } from "./check-ordering.ts";

// Means measured on server 1.29.1, the least favourable of four runs each, with one partition and with four.
test.each([
  ["none, one partition", { urgent: 0.84, smallTenants: 0.86 }, { priority: "no", fairness: "no" }],
  ["none, four", { urgent: 0.75, smallTenants: 0.74 }, { priority: "no", fairness: "no" }],
  ["priority, four", { urgent: 0.12, smallTenants: 0.6 }, { priority: "yes", fairness: "no" }],
  ["both, four", { urgent: 0.11, smallTenants: 0.44 }, { priority: "yes", fairness: "yes" }],
  ["both, one", { urgent: 0.03, smallTenants: 0.16 }, { priority: "yes", fairness: "yes" }],
  ["in between", { urgent: 0.1, smallTenants: 0.52 }, { priority: "yes", fairness: "unclear" }],
] as const)("the ordering of a server is judged by measured shares: %s", (_name, shares, verdict) => {
  expect(judgeOrdering(shares)).toEqual(verdict);
});

test("each verdict about task ordering says what to do, and an unclear experiment says so", () => {
  expect(describeOrdering({ priority: "no", fairness: "no" })).toMatchObject({
    level: "fault",
    todo: expect.stringContaining("matching.useNewMatcher and matching.enableFairness"),
  });
  expect(describeOrdering({ priority: "yes", fairness: "no" }).message).toContain("one busy business");
  expect(describeOrdering({ priority: "yes", fairness: "unclear" })).toMatchObject({ level: "warning" });
  expect(describeOrdering({ priority: "yes", fairness: "yes" }).level).toBe("ok");
});
