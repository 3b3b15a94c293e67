import { expect, test } from "vitest";

import { differencesInWords, saleContent } from "./sale-content.ts";
import type { SaleInput } from "./schema/sale.ts";

const LINES = [
  { sku: "TEA", quantity: 2, unitPrice: 350 },
  { sku: "SUGAR", quantity: 1, unitPrice: 210 },
];

function contentOf(more: Partial<SaleInput> = {}) {
  return saleContent({ traderInvoiceNumber: "INV-1", lines: LINES, ...more }, "biz_1");
}

test.each([
  [{}, {}, []],
  [{}, { saleDate: "2026-11-21" }, ["saleDate: 2026-11-21, before none"]],
  [{ paymentTypeCode: "01" }, { paymentTypeCode: "02" }, ["paymentTypeCode: 02, before 01"]],
  [{ branch: "00" }, { branch: "01" }, ["branch: 01, before 00"]],
  [{ saleId: "sal_1" }, {}, ["saleId: none, before sal_1"]],
  [{ customer: { name: "Wanjiku", pin: "A1" } }, { customer: { name: "Njeri" } }, ["customer.name", "customer.pin"]],
  [{}, { customer: { phone: "0700", email: "a@b" } }, ["customer"]],
  [
    {},
    { lines: [LINES[0], { sku: "SALT", quantity: 3, unitPrice: 210 }] },
    ["lines[1].sku: sku:SALT, before sku:SUGAR", "lines[1].quantity: 3, before 1"],
  ],
  [
    {},
    { lines: [{ ...LINES[0], unitPrice: 300 }] },
    ["lines[0].unitPrice: 300, before 350", "lines[1]: none, before a line"],
  ],
  [{}, { lines: [...LINES, LINES[0]] }, ["lines[2]: a line, before none"]],
] as [Partial<SaleInput>, Partial<SaleInput>, string[]][])("%j and then %j differ in %j", (known, asked, words) => {
  expect(differencesInWords(contentOf(known), contentOf(asked))).toEqual(words);
});

test("of many fields the first eight are named", () => {
  const many = (quantity: number) =>
    contentOf({ lines: Array.from({ length: 300 }, () => ({ sku: "TEA", quantity, unitPrice: 1 })) });
  const words = differencesInWords(many(1), many(2));
  expect(words).toHaveLength(9);
  expect(words.at(-1)).toBe("and 292 more");
});
