import { describe, expect, test } from "vitest";

import { refundRequestSchema } from "./sale.ts";
import { problemsOf } from "./test-support/problems.ts";

const refund = { reason: "06", traderInvoiceNumber: "CN-1" };
const problemsWith = (changes: Record<string, unknown>) => problemsOf(refundRequestSchema, { ...refund, ...changes });

describe("a refund request", () => {
  test.each(["01", "02", "03", "04", "05", "06"])("is accepted with the reason %s", (reason) => {
    expect(problemsWith({ reason, returnDate: "2026-11-21", restock: true })).toEqual([]);
  });

  test.each([
    ["07", '"07"'],
    ["6", '"6"'],
    [6, "6"],
    ["refund", '"refund"'],
    [undefined, "nothing"],
  ])("is refused with the reason %j, and says what each code means", (reason, found) => {
    expect(problemsWith({ reason })).toEqual([
      'reason: expected one of "01" (missing quantity), "02" (missing data), "03" (damaged), "04" (wasted), ' +
        `"05" (raw material shortage), "06" (refund), found ${found}`,
    ]);
  });

  const replaceWith = { traderInvoiceNumber: "INV-2", lines: [{ sku: "TEA-500", quantity: 1, unitPrice: 1 }] };

  test("is accepted with a corrected sale, which decides what goes back to stock", () => {
    expect(problemsWith({ replaceWith })).toEqual([]);
    expect(problemsWith({ replaceWith, restock: true })).toEqual([expect.stringMatching(/^restock: .*replaceWith/)]);
  });

  test.each([
    [{ traderInvoiceNumber: "CN-1" }, /^replaceWith.traderInvoiceNumber: expected another number/],
    [{ traderInvoiceNumber: "x".repeat(51) }, /^replaceWith.traderInvoiceNumber: expected at most 50 characters/],
    [{ lines: undefined }, /^replaceWith.lines: expected a list of lines/],
    [{ saleId: "sal_1" }, /^replaceWith.saleId: unknown field/],
  ])("is refused with a corrected sale that has %j", (changes, problem) => {
    expect(problemsWith({ replaceWith: { ...replaceWith, ...changes } })).toEqual([expect.stringMatching(problem)]);
  });

  test.each([
    [{ traderInvoiceNumber: "x".repeat(51) }, "traderInvoiceNumber: expected at most 50 characters, found 51"],
    [{ traderInvoiceNumber: "" }, "traderInvoiceNumber: expected at least 1 character, found an empty text"],
    [{ returnDate: "2026-02-30" }, 'returnDate: expected a date that exists, written YYYY-MM-DD, found "2026-02-30"'],
    [{ restock: "yes" }, 'restock: expected a boolean, found "yes"'],
    [{ saleId: "sal_1" }, "saleId: unknown field"],
  ])("is refused with %j", (changes, problem) => {
    expect(problemsWith(changes)).toEqual([problem]);
  });
});
