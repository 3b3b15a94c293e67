import { expect, test } from "vitest";

import { composeCreateSale, type CreateSaleInput, ignoredFields } from "./compose.ts";
import { parseDialect } from "./dialect.ts";
import { sampleSale } from "./test-support/samples.ts";

const dialect = parseDialect({ createSale: { fields: { customer: "buyer" } } });
const callback = { url: "https://till.example/callbacks/x", status: "awaiting_outcome" };
const asked: CreateSaleInput = {
  businessId: "biz_1",
  traderInvoiceNumber: "INV-1",
  saleDate: "2026-11-21",
  paymentTypeCode: "01",
  customer: { name: "Wanjiku", pin: "A012345678Z", phone: "0700 000 001" },
  lines: [{ itemId: "itm_1", quantity: 1, unitPrice: 1 }],
  callbackUrl: callback.url,
};
const whole = sampleSale({
  saleDate: "2026-11-21",
  paymentTypeCode: "01",
  customer: { name: "WANJIKU", pin: "A012345678Z", phone: "+254700000001", email: null },
  callback,
});
const ignored = (document = whole, more: Partial<CreateSaleInput> = {}) =>
  ignoredFields(dialect, composeCreateSale(dialect, "organisation", { ...asked, ...more }).bodyJson, document).map(
    ({ setting, sentAs }) => `${setting} ${sentAs}`,
  );

test("a document that has every part, in whatever form, has none ignored", () => {
  expect(ignored()).toEqual([]);
  expect(
    ignored(sampleSale({ saleDate: null, customer: null }), {
      saleDate: undefined,
      paymentTypeCode: undefined,
      customer: { name: "" },
      callbackUrl: undefined,
    }),
  ).toEqual([]);
});

test.each([
  [{ saleDate: "2026-11-22" }, ["createSale.fields.saleDate saleDate"]],
  [{ paymentTypeCode: null }, ["createSale.fields.paymentTypeCode paymentTypeCode"]],
  [{ callback: null }, ["createSale.fields.callbackUrl callbackUrl"]],
  [{ customer: { ...whole.customer, phone: null } }, ["createSale.customerFields.phone phone"]],
  [{ customer: { name: null, pin: null, phone: null } }, ["createSale.fields.customer buyer"]],
  [{ customer: null }, ["createSale.fields.customer buyer"]],
])("a document with %j has those parts ignored", (changes, settings) => {
  expect(ignored({ ...whole, ...changes })).toEqual(settings);
});
