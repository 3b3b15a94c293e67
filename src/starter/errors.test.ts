import { ApplicationFailure } from "@temporalio/common";
import { expect, test } from "vitest";

import { FAILURES } from "../contract/calls.ts";
import { creditConflict } from "../contract/correction.ts";
import { workflowError } from "./errors.ts";

test("an update that a workflow does not have is not allowed, and the error says so", () => {
  // What Temporal's SDK says, word for word (its release 1.24).
  const failure = ApplicationFailure.nonRetryable("No registered handler for update: resolveBatch");
  expect(workflowError(failure)).toMatchObject({
    code: "NotAllowed",
    allowed: [],
    message: expect.stringContaining("This workflow has no update resolveBatch, at any stage. Nothing was changed."),
  });
});

test("a refused correction names the fields as its caller knows them, and says what to do", () => {
  const credited = { reason: "06", traderInvoiceNumber: "CN-T1", restock: true } as const;
  const told = (asked: Parameters<typeof creditConflict>[1]) => {
    const { message, fields } = creditConflict(credited, asked) ?? {};
    return workflowError(ApplicationFailure.nonRetryable(message, FAILURES.conflict, { fields }));
  };
  expect(told({ ...credited, traderInvoiceNumber: "CN-T4", reason: "02" })).toMatchObject({
    code: "Conflict",
    fields: ["creditNote", "reason"],
    message: expect.stringMatching(
      /differs: creditNote is CN-T1, not CN-T4; reason is 06, not 02\. .+ Nothing was done\. Ask for the correction with what CN-T1 has: then the corrected sale alone is issued\.$/,
    ),
  });
  expect(told({ ...credited, restock: false })).toMatchObject({
    fields: ["restock"],
    message: expect.stringMatching(/CN-T1 returns the goods of the first sale to stock: check the stock first\.$/),
  });
  expect(creditConflict(credited, credited)).toBeUndefined();
});
