import { describe, expect, test } from "vitest";

import { sampleCreditNote, sampleSale } from "../compliance/test-support/samples.ts";
import type { SaleDocument } from "./documents.ts";
import { type ExpectedDocument, mismatches, mismatchMessage } from "./matching.ts";

const ours: ExpectedDocument = {
  type: "sale",
  traderInvoiceNumber: "INV-1001",
  customerPin: "A012345678Z",
  lines: [{ itemId: "itm_1", quantity: 2, unitPrice: 116 }],
};

function withLine(changes: Partial<SaleDocument["lines"][number]>): SaleDocument {
  const document = sampleSale();
  return { ...document, lines: document.lines.map((line) => ({ ...line, ...changes })) };
}

describe("a document", () => {
  test("that is what was asked for matches", () => {
    expect(mismatches(sampleSale(), ours)).toEqual([]);
  });

  test.each<[string, SaleDocument, string]>([
    ["type", sampleCreditNote(), "type: expected sale, found credit_note"],
    [
      "number",
      sampleSale({ traderInvoiceNumber: "INV-1002" }),
      "traderInvoiceNumber: expected INV-1001, found INV-1002",
    ],
    [
      "customer",
      sampleSale({ customer: { pin: "A000000000B" } }),
      "customer.pin: expected A012345678Z, found A000000000B",
    ],
    ["missing customer", sampleSale({ customer: null }), "customer.pin: expected A012345678Z, found nothing"],
    ["number of lines", sampleSale({ lines: [] }), "lines: expected 1, found 0"],
    ["item", withLine({ itemId: "itm_2" }), "lines[0]: expected 2 of itm_1 at 116, found 2 of itm_2 at 116"],
    ["quantity", withLine({ quantity: 3 }), "lines[0]: expected 2 of itm_1 at 116, found 3 of itm_1 at 116"],
    ["price", withLine({ unitPrice: 117 }), "lines[0]: expected 2 of itm_1 at 116, found 2 of itm_1 at 117"],
  ])("with another %s does not match, and the message says so", (_what, document, found) => {
    expect(mismatches(document, ours)).toEqual([found]);
  });

  test("reports every part in which it differs", () => {
    expect(mismatches(sampleCreditNote({ traderInvoiceNumber: "CN-1", lines: [] }), ours)).toHaveLength(3);
  });

  test("is not compared in the parts that are left out", () => {
    expect(mismatches(sampleSale({ traderInvoiceNumber: "X", customer: null, lines: [] }), { type: "sale" })).toEqual(
      [],
    );
  });

  test("for a sale without a customer PIN must not name one", () => {
    const anonymous = { ...ours, customerPin: null };
    expect(mismatches(sampleSale(), anonymous)).toEqual(["customer.pin: expected nothing, found A012345678Z"]);
    expect(mismatches(sampleSale({ customer: null }), anonymous)).toEqual([]);
    expect(mismatches(sampleSale({ customer: { pin: null } }), anonymous)).toEqual([]);
  });

  test.each([null, "", undefined])("for an unnamed buyer may have the buyer's PIN %j", (pin) => {
    for (const customerPin of [null, ""])
      expect(mismatches(sampleSale({ customer: { name: "", pin } }), { ...ours, customerPin })).toEqual([]);
  });

  test("that is a sale may name an empty text as the sale that it reverses", () => {
    const expected = { ...ours, originalSaleId: "" };
    expect(mismatches(sampleSale({ originalSaleId: null }), expected)).toEqual([]);
  });

  test("with the lines in another order does not match", () => {
    const [first] = sampleSale().lines;
    if (!first) throw new Error("the sample has a line");
    const other = { ...first, itemId: "itm_2" };
    const lines = [
      { itemId: "itm_1", quantity: 2, unitPrice: 116 },
      { itemId: "itm_2", quantity: 2, unitPrice: 116 },
    ];
    expect(mismatches(sampleSale({ lines: [first, other] }), { ...ours, lines })).toEqual([]);
    expect(mismatches(sampleSale({ lines: [other, first] }), { ...ours, lines })).toHaveLength(2);
  });

  test("may round the price by 0.01, and no further", () => {
    expect(mismatches(withLine({ unitPrice: 116.01 }), ours)).toEqual([]);
    expect(mismatches(withLine({ unitPrice: 116.0100001 }), ours)).toHaveLength(1);
  });

  test("must have the quantity exactly", () => {
    expect(mismatches(withLine({ quantity: 2.001 }), ours)).toHaveLength(1);
    const fractional = { ...ours, lines: [{ itemId: "itm_1", quantity: 0.1 + 0.2, unitPrice: 116 }] };
    expect(mismatches(withLine({ quantity: 0.1 + 0.2 }), fractional)).toEqual([]);
  });

  test.each([
    [232, []],
    [232.01, []],
    [231.99, []],
    [232.02, ["totals.total: expected 232.02, found 232"]],
    [231.98, ["totals.total: expected 231.98, found 232"]],
  ])("of 232 is compared with the expected total %d at a tolerance of 0.01", (total, found) => {
    expect(mismatches(sampleSale(), { type: "sale", total })).toEqual(found);
  });
});

describe("a credit note", () => {
  const reversal: ExpectedDocument = {
    ...ours,
    type: "credit_note",
    traderInvoiceNumber: "CN-1",
    originalSaleId: "sal_1",
  };
  const note = (changes: Partial<SaleDocument> = {}) =>
    sampleCreditNote({ traderInvoiceNumber: "CN-1", lines: withLine({ quantity: -2 }).lines, ...changes });

  test("with negative quantities matches the sale that it reverses", () => {
    expect(mismatches(note(), reversal)).toEqual([]);
  });

  test("of another sale does not match", () => {
    expect(mismatches(note({ originalSaleId: "sal_2" }), reversal)).toEqual([
      "originalSaleId: expected sal_1, found sal_2",
    ]);
    expect(mismatches(note({ originalSaleId: null }), reversal)).toEqual([
      "originalSaleId: expected sal_1, found nothing",
    ]);
  });

  test("under another number does not match", () => {
    expect(mismatches(note({ traderInvoiceNumber: "CN-2" }), reversal)).toHaveLength(1);
  });
});

test("the message of a created sale that lacks what was sent names the settings under which it was sent", () => {
  const document = sampleSale({ customer: null, lines: [] });
  expect(mismatchMessage(ours, mismatches(document, ours))).toMatch(
    /^customer\.pin: .*; lines: .*createSale\.customerFields\.pin, createSale\.fields\.lines, createSale\.lineFields in COMPLIANCE_DIALECT\.$/,
  );
  expect(mismatchMessage({ ...ours, type: "credit_note" }, ["customer.pin: x"])).toBe("customer.pin: x");
  expect(mismatchMessage(ours, ["type: x"])).toBe("type: x");
});
