import { describe, expect, test } from "vitest";

import { refundRequestSchema } from "./refund-request.ts";
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
