import { expect, test } from "vitest";
import { parseDialect } from "./dialect.ts";
import { settingsBehind, settingsHint } from "./settings-behind.ts";

const dialect = parseDialect();

test.each([
  ["createSale", "customer is not a known field", ["createSale.fields.customer"]],
  ["createSale", "branchId names no branch of the business", ["createSale.fields.branch", "createSale.branchBy"]],
  ["createSale", "lines[0].unitPrice is not a known field", ["createSale.lineFields.unitPrice"]],
  ["createSale", "lines[0].qty is required", ["createSale.lineFields.*"]],
  ["createSale", "customer.pin is not a known field", ["createSale.customerFields.pin"]],
  ["createSale", "customer.kra_pin is required", ["createSale.customerFields.*"]],
  ["createSale", "businessId is required", ["createSale.businessIdIn"]],
  ["createCreditNote", "businessId is not a known field", ["creditNote.businessIdIn"]],
  ["retrySale", "anything at all", ["retry.businessIdIn"]],
  ["adjustStock", "branchId is not a known field", ["stock.branch", "stock.branchBy"]],
  ["registerItem", "force is not a known field", ["register.force"]],
  ["listPurchases", "pageSize is not a known field", ["purchases.pageSize"]],
  ["pullPurchases", "not found", ["pull.path", "pull.businessIdIn"]],
  ["getSale", "Sale not found", []],
  ["listItems", "businessId is required", []],
] as const)("%s, which the service refuses with %j, is traced to the settings %j", (operation, message, settings) => {
  expect(settingsBehind(operation, message, dialect)).toEqual(settings);
});

test("a refusal that names no sent field is traced to all settings of the request", () => {
  const settings = settingsBehind("createSale", "items is required", dialect);
  expect(settings).toEqual(
    expect.arrayContaining(["createSale.path", "createSale.fields.*", "createSale.lineFields.*"]),
  );
});

test("a refusal is traced by the names of the dialect in use", () => {
  const other = parseDialect({ createSale: { fields: { customer: "buyer" } } });
  expect(settingsBehind("createSale", "buyer.name is not a known field", other)).toEqual([
    "createSale.customerFields.name",
  ]);
});

test("the hint of a refusal names the settings and where to set them, and is empty where there are none", () => {
  expect(settingsHint([])).toBe("");
  expect(settingsHint(["a", "b", "c"])).toContain("set a, b or c in COMPLIANCE_DIALECT");
});
