import { describe, expect, it } from "vitest";

import type { Receipt, SaleDocument, SaleDocumentLine } from "../../contract/index.ts";
import { documentOf } from "../test-support/records.ts";
import { differences, isFinal } from "./compare-document.ts";

const RECEIPT: Receipt = {
  cuInvoiceNo: "CU-1",
  receiptNumber: 7,
  receiptLabel: "NS",
  scuId: "KRACU01",
  scuDate: "20/11/2026",
  scuTime: "09:00:00",
  totalReceiptCounter: "7/9",
  signature: "SIGN",
  internalData: "DATA",
  verificationUrl: "https://authority.example/7",
  originalCuInvoiceNo: "CU-0",
};
const KEPT = documentOf("INV-1", { receipt: RECEIPT });

function withLine(change: Partial<SaleDocumentLine>): SaleDocument {
  return { ...KEPT, lines: KEPT.lines.map((line, index) => (index === 0 ? { ...line, ...change } : line)) };
}

describe("a difference between the service's document and the ledger's", () => {
  it.each<[string, SaleDocument, string]>([
    [
      "the customer's PIN",
      { ...KEPT, customer: { ...KEPT.customer, pin: "P000000009Z" } },
      "the customer's PIN is another one than in the ledger",
    ],
    ["the payment type", { ...KEPT, paymentTypeCode: "02" }, "the payment type is 02, in the ledger 01"],
    ["a unit price", withLine({ unitPrice: 350.12 }), "the unit price of line 1 is 350.12, in the ledger 350.1"],
    ["a tax letter", withLine({ taxTypeCode: "C" }), "the tax letter of line 1 is C, in the ledger B"],
    [
      "a taxable amount",
      withLine({ taxableAmount: 603.6 }),
      "the taxable amount of line 1 is 603.60, in the ledger 603.62",
    ],
    ...(Object.keys(RECEIPT) as (keyof Receipt)[]).map((field): [string, SaleDocument, string] => {
      const value = field === "receiptNumber" ? 8 : "other";
      return [
        field,
        { ...KEPT, receipt: { ...RECEIPT, [field]: value } },
        ` is ${value}, in the ledger ${RECEIPT[field]}`,
      ];
    }),
  ])("is reported: %s", (_what, told, expected) => {
    expect(differences(KEPT, told)).toEqual([expect.stringContaining(expected)]);
  });

  it("is not reported where amounts are within a cent, or only one side has a value", () => {
    expect(differences(KEPT, withLine({ unitPrice: 350.11, taxTypeCode: null }))).toEqual([]);
    const { cuInvoiceNo, receiptLabel } = RECEIPT;
    const less = { ...KEPT, customer: null, paymentTypeCode: null, receipt: { cuInvoiceNo, receiptLabel } };
    expect(differences(KEPT, less)).toEqual([]);
    expect(differences(less, KEPT)).toEqual([]);
  });

  it("is not reported where one side has an empty text and the other none", () => {
    const none = { ...KEPT, originalSaleId: null, saleDate: null, customer: { pin: null } };
    const empty = { ...KEPT, originalSaleId: "", saleDate: "", customer: { pin: "" } };
    expect(differences(none, empty)).toEqual([]);
    expect(differences(KEPT, { ...KEPT, customer: { pin: "" } })).toEqual([]);
  });
});

describe("a document is final", () => {
  const DAY_MS = 24 * 60 * 60_000;
  it.each<[boolean, string, number, Partial<SaleDocument>]>([
    [true, "completed with its receipt", 0, {}],
    [false, "completed without", 365, { receipt: null }],
    [false, "completed with an empty CU number", 365, { receipt: { ...RECEIPT, cuInvoiceNo: "" } }],
    [true, "cancelled", 0, { status: "cancelled", receipt: null }],
    [false, "in flight", 365, { status: "retrying", receipt: null }],
    [false, "failed, while it may be sent again", 34, { status: "failed", receipt: null }],
    [true, "failed for long", 35, { status: "failed", receipt: null }],
  ])("(%s) where it is %s", (final, _what, days, change) => {
    expect(isFinal({ ...KEPT, ...change }, days * DAY_MS)).toBe(final);
  });
});
