import { describe, expect, test } from "vitest";

import { saleInputSchema, saleStartSchema } from "./sale.ts";
import { problemsOf } from "./test-support/problems.ts";

const line = { itemId: "itm_1", quantity: 2, unitPrice: 116 };
const sale = { traderInvoiceNumber: "INV-1001", lines: [line] };
const RECEIPT = "\u{1F9FE}";

const problemsWith = (changes: Record<string, unknown>) => problemsOf(saleInputSchema, { ...sale, ...changes });
const problemsWithLine = (changes: Record<string, unknown>) => problemsWith({ lines: [line, { ...line, ...changes }] });

describe("the input of a sale", () => {
  test("is accepted with a number and lines alone", () => {
    expect(problemsOf(saleInputSchema, sale)).toEqual([]);
  });

  test("is accepted with every field of the contract", () => {
    const whole = {
      connection: "default",
      businessId: "biz_1",
      branch: "00",
      saleDate: "2026-11-21",
      paymentTypeCode: "01",
      customer: { name: "Wanjirũ", pin: "A012345678Z", phone: "0700", email: "w@example.com" },
      expectedTotal: 232,
      stock: "on-completion",
      callback: "off",
      refundWindow: "24 hours",
    };
    expect(problemsWith(whole)).toEqual([]);
  });

  test.each([
    ["a slash", "INV/2026/1"],
    ["spaces", " INV 1 "],
    ["Swahili", "ankara-ng'ombe"],
    ["Amharic", "ደረሰኝ-፩"],
    ["Arabic", "فاتورة ١"],
    ["Chinese", "发票一"],
    ["an emoji", RECEIPT],
    ["an emoji of several code points", "👩‍👩‍👧"],
    ["fifty emoji", RECEIPT.repeat(50)],
    ["fifty letters", "x".repeat(50)],
    ["a percent sign and a tilde", "100%~1"],
  ])("is accepted with an invoice number that has %s", (_what, traderInvoiceNumber) => {
    expect(problemsWith({ traderInvoiceNumber })).toEqual([]);
  });

  test.each([
    ["the empty text", "", "expected at least 1 character, found an empty text"],
    ["51 letters", "x".repeat(51), "expected at most 50 characters, found 51"],
    ["51 emoji", RECEIPT.repeat(51), "expected at most 50 characters, found 51"],
    ["1001 letters", "x".repeat(1001), "expected at most 1000 characters, found 1001"],
    ["a tab", "INV\t1", "expected no control characters (such as tab or line break), found one"],
    ["a NUL", "INV\0", "expected no control characters (such as tab or line break), found one"],
    ["an escape sequence", "\u001B[31mINV", "expected no control characters (such as tab or line break), found one"],
    ["a C1 control", "INV\u0085", "expected no control characters (such as tab or line break), found one"],
    ["half of a surrogate pair", "INV\uD83E", "expected well-formed Unicode, found half of a surrogate pair"],
    ["the other half", "\uDDFEINV", "expected well-formed Unicode, found half of a surrogate pair"],
    ["a number", 1001, "expected a string, found 1001"],
    ["nothing", undefined, "expected a string, found nothing"],
    ["null", null, "expected a string, found null"],
  ])("is refused with %s for an invoice number", (_what, traderInvoiceNumber, said) => {
    expect(problemsWith({ traderInvoiceNumber })).toEqual([`traderInvoiceNumber: ${said}`]);
  });

  test("may have a longer number where it adopts a sale that was issued elsewhere", () => {
    expect(problemsWith({ traderInvoiceNumber: "x".repeat(400), saleId: "sal_1" })).toEqual([]);
  });

  test("may come without lines where it adopts a sale", () => {
    expect(problemsOf(saleInputSchema, { traderInvoiceNumber: "INV-1", saleId: "sal_1" })).toEqual([]);
  });

  test.each([
    [undefined, "expected at least one line (only a sale adopted by saleId may come without), found nothing"],
    [[], "expected at least one line, found a list of 0"],
    [null, "expected a list of lines, found null"],
    [{}, "expected a list of lines, found an object"],
    ["tea", 'expected a list of lines, found "tea"'],
    [Array.from({ length: 1001 }, () => line), "expected at most 1000 lines, found a list of 1001"],
  ])("is refused with the wrong lines (%#)", (lines, said) => {
    expect(problemsWith({ lines })).toEqual([`lines: ${said}`]);
  });

  test.each([
    [{ itemId: undefined }, "none"],
    [{ sku: "TEA" }, "itemId and sku"],
    [{ externalId: "ext" }, "itemId and externalId"],
    [{ externalId: "ext", sku: "TEA" }, "itemId and externalId and sku"],
  ])("is refused with a line that names its item so: %j", (changes, found) => {
    expect(problemsWithLine(changes)).toEqual([
      `lines[1]: expected the item to be named by exactly one of itemId, externalId and sku, found ${found}`,
    ]);
  });

  test.each([
    [0, "expected a number greater than 0, found 0"],
    [-1, "expected a number greater than 0, found -1"],
    [Number.NaN, "expected a finite number, found NaN"],
    [Number.POSITIVE_INFINITY, "expected a finite number, found Infinity"],
    ["2", 'expected a finite number, found "2"'],
    [undefined, "expected a finite number, found nothing"],
    [null, "expected a finite number, found null"],
  ])("is refused with the quantity %s", (quantity, said) => {
    expect(problemsWithLine({ quantity })).toEqual([`lines[1].quantity: ${said}`]);
  });

  test.each([
    [-0.01, "expected a number of at least 0, found -0.01"],
    ["116", 'expected a finite number, found "116"'],
    [Number.NaN, "expected a finite number, found NaN"],
  ])("is refused with the unit price %s", (unitPrice, said) => {
    expect(problemsWithLine({ unitPrice })).toEqual([`lines[1].unitPrice: ${said}`]);
  });

  test("is accepted with goods that are given away", () => {
    expect(problemsWithLine({ unitPrice: 0 })).toEqual([]);
  });

  test.each(["2026-02-30", "2026-13-01", "21-11-2026", "2026-11-21T10:00:00Z", ""])(
    "is refused with the date %j",
    (saleDate) => {
      expect(problemsWith({ saleDate })).toEqual([
        `saleDate: expected a date that exists, written YYYY-MM-DD, found "${saleDate}"`,
      ]);
    },
  );

  test.each(["Default", "", "a b", "a_b", "default\n", "x".repeat(33)])(
    "is refused with the connection name %j",
    (connection) => {
      const [problem, ...others] = problemsWith({ connection });
      expect(problem).toMatch(/^connection: expected the name of a connection: 1 to 32 of a-z, 0-9 and -, found "/);
      expect(others).toEqual([]);
    },
  );

  test("is refused with a business of more than 64 bytes, and accepted with 64", () => {
    expect(problemsWith({ businessId: "é".repeat(32) })).toEqual([]);
    expect(problemsWith({ businessId: "é".repeat(33) })).toEqual([
      `businessId: expected at most 64 bytes, found "${"é".repeat(33)}"`,
    ]);
  });

  test.each([
    [{ colour: "red" }, "colour"],
    [{ customer: { nom: "Wanjiru" } }, "customer.nom"],
    [{ lines: [line, { ...line, price: 1 }] }, "lines[1].price"],
    [JSON.parse('{"__proto__": 1}') as Record<string, unknown>, undefined],
    [{ "\u001B[31m": 1 }, "\uFFFD[31m"],
  ])("is refused with a field that is not known (%#)", (changes, path) => {
    // A spread drops `__proto__`, so that one is given as it comes.
    const problems = path === undefined ? problemsOf(saleInputSchema, changes) : problemsWith(changes);
    expect(problems).toContain(`${path ?? "__proto__"}: unknown field`);
  });

  test.each([
    ["stock", "later", '"on-submission", "on-completion", "off"'],
    ["callback", "on", '"auto", "off"'],
  ])("is refused with a %s that is none of the words", (field, value, words) => {
    expect(problemsWith({ [field]: value })).toEqual([`${field}: expected one of ${words}, found "${value}"`]);
  });

  test.each(["soon", "5", "-1 hour", "", "24 hours ago", "1000 years"])("is refused with the window %j", (window) => {
    expect(problemsWith({ refundWindow: window })).toEqual([
      `refundWindow: expected a duration such as "24 hours", or "0", found "${window}"`,
    ]);
  });

  test("names every problem at once, whatever else is wrong", () => {
    const wrong = { traderInvoiceNumber: 5, saleDate: "soon", colour: "red", lines: [{ quantity: 0 }] };
    expect(problemsOf(saleInputSchema, wrong).map((problem) => problem.split(":")[0])).toEqual([
      "traderInvoiceNumber",
      "saleDate",
      "lines[0].quantity",
      "lines[0].unitPrice",
      "lines[0]",
      "colour",
    ]);
    expect(problemsOf(saleInputSchema, {}).map((problem) => problem.split(":")[0])).toEqual([
      "traderInvoiceNumber",
      "lines",
    ]);
  });
});

describe("the input of the workflow", () => {
  const refund = { reason: "06", traderInvoiceNumber: "CN-1" };
  const problemsOfStart = (input: unknown) => problemsOf(saleStartSchema, input);

  test.each([
    ["a number alone, which the ledger may have", { traderInvoiceNumber: "x".repeat(400) }],
    ["a refund beside the number", { traderInvoiceNumber: "INV-1", refund }],
    ["a refund beside lines", { ...sale, refund }],
  ])("is accepted with %s", (_what, input) => {
    expect(problemsOfStart(input)).toEqual([]);
  });

  test.each([
    [
      "a number that is too long for one that is issued",
      { ...sale, traderInvoiceNumber: "x".repeat(51) },
      "traderInvoiceNumber: expected at most 50 characters, found 51",
    ],
    [
      "a refund without a number",
      { ...sale, refund: { reason: "06" } },
      "refund.traderInvoiceNumber: expected a string, found nothing",
    ],
    [
      "a wait beside the refund",
      { ...sale, refund: { ...refund, waitSeconds: 1 } },
      "refund.waitSeconds: unknown field",
    ],
    [
      "a branch without goods for it",
      { ...sale, refund: { ...refund, branch: "00" } },
      'refund.branch: expected only together with restock: the branch says to which the goods are returned, found "00"',
    ],
  ])("is refused with %s", (_what, input, problem) => {
    expect(problemsOfStart(input)).toEqual([problem]);
  });
});
