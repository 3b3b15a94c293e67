import { ApplicationFailure } from "@temporalio/common";
import { expect, test } from "vitest";

import { FAILURES } from "../contract/errors.ts";
import { saleContent } from "../contract/sale-content.ts";
import { SaleConflictError, workflowError } from "./errors.ts";

test("an update that a workflow does not have is not allowed, and the error says so", () => {
  // What Temporal's SDK says, word for word (its release 1.24).
  const failure = ApplicationFailure.nonRetryable("No registered handler for update: resolveBatch");
  expect(workflowError(failure)).toMatchObject({
    code: "NotAllowed",
    allowed: [],
    message: expect.stringContaining("This workflow has no update resolveBatch, at any stage. Nothing was changed."),
  });
});

test("a refusal names the updates that its details name", () => {
  const failure = ApplicationFailure.nonRetryable("Not signed.", FAILURES.notAllowed, { allowed: ["cancel"] });
  expect(workflowError(failure)).toMatchObject({ code: "NotAllowed", allowed: ["cancel"], problems: [] });
});

test("what is wrong with an input is told by its details, in a line for each field", () => {
  const details = { what: "sale input", problems: ["lines: expected one", "saleDate: expected a date"] };
  const failure = ApplicationFailure.nonRetryable("in words", FAILURES.invalidInput, details);
  const message = "The sale input is not valid:\n  lines: expected one\n  saleDate: expected a date";
  expect(workflowError(failure)).toMatchObject({ code: "InvalidInput", ...details, message });
  const bare = ApplicationFailure.nonRetryable("in words", FAILURES.invalidInput);
  expect(workflowError(bare)).toMatchObject({ code: "InvalidInput", problems: ["in words"] });
});

test("a refused sale is told what differs, and what can be done: the same content, another number, cancel or correct", () => {
  const content = (quantity: number) =>
    saleContent({ traderInvoiceNumber: "INV-1", lines: [{ sku: "TEA", quantity, unitPrice: 350 }] }, "biz_1");
  const choices =
    /Nothing was started\. .+ start it with the content that it has; .+ another number\. .+ cancel it before it is signed, .+ correct it/;
  const { message, fields } = SaleConflictError.between("INV-1", content(2), content(3));
  expect(message).toMatch(
    /^The number INV-1 belongs to another sale\. What differs: lines\[0\]\.quantity: 3, before 2\. /,
  );
  expect(message).toMatch(choices);
  expect(fields).toEqual(["lines[0].quantity"]);
  expect(SaleConflictError.between("INV-1", undefined, content(3)).message).toMatch(choices);
});
