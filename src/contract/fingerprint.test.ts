import { describe, expect, test } from "vitest";

import { differingFields, fingerprintOf, type SaleContent, saleContent } from "./sale-content.ts";
import type { SaleFields } from "./schema/sale.ts";

const tea = { itemId: "itm_tea", quantity: 2, unitPrice: 350 };
const flour = { sku: "FLOUR-2", quantity: 1, unitPrice: 210.5 };

const sale: SaleFields = {
  connection: "default",
  branch: "00",
  traderInvoiceNumber: "INV-1001",
  saleDate: "2026-11-21",
  paymentTypeCode: "01",
  customer: { name: "Wanjiru", pin: "A012345678Z", phone: "0700", email: "w@example.com" },
  lines: [tea, flour],
};

const contentOf = (changes: Partial<SaleFields> = {}, businessId: string | undefined = "biz_1") =>
  saleContent({ ...sale, ...changes }, businessId);
const printOf = (...change: Parameters<typeof contentOf>) => fingerprintOf(contentOf(...change));

describe("the fingerprint of a sale", () => {
  test("is 64 hex digits, the same each time", () => {
    expect(printOf()).toMatch(/^[0-9a-f]{64}$/);
    expect(printOf()).toBe(printOf());
  });

  test.each<[string, Partial<SaleFields>]>([
    ["stock", { stock: "off" }],
    ["callback", { callback: "off" }],
    ["refundWindow", { refundWindow: "0" }],
    ["expectedTotal", { expectedTotal: 910.5 }],
  ])("does not count the option %s", (_name, option) => {
    expect(printOf(option)).toBe(printOf());
  });

  test.each<[string, Partial<SaleFields>]>([
    ["traderInvoiceNumber", { traderInvoiceNumber: "INV-1002" }],
    ["saleDate", { saleDate: "2026-11-22" }],
    ["paymentTypeCode", { paymentTypeCode: "02" }],
    ["saleId", { saleId: "sal_1" }],
    ["branch", { branch: "01" }],
    ["customer.name", { customer: { ...sale.customer, name: "Achieng" } }],
    ["customer.pin", { customer: { ...sale.customer, pin: "A000000000B" } }],
    ["customer.phone", { customer: { ...sale.customer, phone: "0711" } }],
    ["customer.email", { customer: { ...sale.customer, email: "a@example.com" } }],
    ["customer", { customer: {} }],
    ["lines[0].quantity", { lines: [{ ...tea, quantity: 3 }, flour] }],
    ["lines[0].unitPrice", { lines: [{ ...tea, unitPrice: 351 }, flour] }],
    ["lines[1].sku", { lines: [tea, { ...flour, sku: "FLOUR-3" }] }],
    ["lines[2]", { lines: [tea, flour, tea] }],
    ["lines[1]", { lines: [tea] }],
  ])("counts %s (%j), and the difference is named", (field, change) => {
    expect(printOf(change)).not.toBe(printOf());
    expect(differingFields(contentOf(), contentOf(change))).toEqual([field]);
    expect(differingFields(contentOf(change), contentOf())).toEqual([field]);
  });

  test("counts the business", () => {
    expect(printOf({}, "biz_2")).not.toBe(printOf());
    expect(differingFields(contentOf(), contentOf({}, "biz_2"))).toEqual(["businessId"]);
  });

  test("counts the order of the lines", () => {
    const turned = { lines: [flour, tea] };
    expect(printOf(turned)).not.toBe(printOf());
    const ofEach = (first: string, second: string) => [
      ...[first, "quantity", "unitPrice"].map((part) => `lines[0].${part}`),
      ...[second, "quantity", "unitPrice"].map((part) => `lines[1].${part}`),
    ];
    expect(differingFields(contentOf(), contentOf(turned))).toEqual(ofEach("sku", "itemId"));
    expect(differingFields(contentOf(turned), contentOf())).toEqual(ofEach("itemId", "sku"));
  });

  test("differs where the same text names an item as id, external id or sku", () => {
    const named = [{ itemId: "1" }, { externalId: "1" }, { sku: "1" }];
    const prints = named.map((name) => printOf({ lines: [{ ...name, quantity: 1, unitPrice: 1 }] }));
    expect(new Set(prints).size).toBe(3);
  });

  test("does not depend on the order in which the fields are written", () => {
    const { customer, lines, ...rest } = sale;
    const turned: SaleFields = { lines: lines ?? [], customer: customer ?? {}, ...rest };
    expect(fingerprintOf(saleContent(turned, "biz_1"))).toBe(printOf());
  });

  test("treats a customer without fields as no customer, since none is sent", () => {
    const { customer: _customer, ...anonymous } = sale;
    expect(fingerprintOf(saleContent({ ...anonymous, customer: {} }, "biz_1"))).toBe(
      fingerprintOf(saleContent(anonymous, "biz_1")),
    );
  });

  test("treats an empty text as not given", () => {
    const { customer: _customer, saleDate: _saleDate, paymentTypeCode: _code, ...bare } = sale;
    const empty = { ...bare, saleDate: "", paymentTypeCode: "", customer: { name: "", pin: "", phone: "", email: "" } };
    expect(saleContent(empty, "biz_1")).toEqual(saleContent(bare, "biz_1"));
    expect(printOf({ customer: { name: "Wanjiru", pin: "" } })).toBe(printOf({ customer: { name: "Wanjiru" } }));
  });

  test("differs between a given date and one that is left to the service", () => {
    const { saleDate: _saleDate, ...undated } = sale;
    expect(fingerprintOf(saleContent(undated, "biz_1"))).not.toBe(printOf());
  });

  test("names no field where nothing differs, in whatever order a kept content has its fields", () => {
    expect(differingFields(contentOf(), contentOf())).toEqual([]);
    const turned = (value: object) => Object.fromEntries(Object.entries(value).toReversed());
    const { customer, lines } = contentOf();
    const kept = { ...turned(contentOf()), customer: turned(customer ?? {}), lines: lines.map(turned) };
    expect(differingFields(kept as unknown as SaleContent, contentOf())).toEqual([]);
  });

  test("names all fields that differ", () => {
    const other = contentOf({ saleDate: "2026-11-20", customer: { ...sale.customer, pin: "B" }, lines: [] });
    expect(differingFields(contentOf(), other)).toEqual(["saleDate", "customer.pin", "lines[0]", "lines[1]"]);
  });
});
