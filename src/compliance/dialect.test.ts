import { expect, test } from "vitest";
import { parseDialect } from "./dialect.ts";
import { DialectError } from "../http/dialect-settings.ts";

const defaults = {
  createSale: {
    path: "/v1/sales",
    businessIdIn: "query",
    idempotencyKey: "trusted",
    fields: {
      traderInvoiceNumber: "traderInvoiceNumber",
      saleDate: "saleDate",
      paymentTypeCode: "paymentTypeCode",
      customer: "customer",
      lines: "lines",
      branch: "branchId",
      callbackUrl: "callbackUrl",
    },
    lineFields: { itemId: "itemId", quantity: "quantity", unitPrice: "unitPrice" },
    customerFields: { name: "name", pin: "pin", phone: "phone", email: "email" },
    branchBy: "id",
  },
  creditNote: { businessIdIn: "query" },
  retry: { businessIdIn: "query" },
  stock: { businessIdIn: "query", branch: "branchId", branchBy: "id", report: "fiscal" },
  register: { branch: "branchId", branchBy: "id", force: "force" },
  purchases: { cursor: "cursor", pageSize: "pageSize", status: "status", from: "from", to: "to" },
  pull: { path: "/v1/purchases/pull", businessIdIn: "query" },
  businesses: {
    list: "businesses",
    id: "id",
    branches: "branches",
    branchId: "id",
    authorityId: "authorityBhfId",
  },
  errors: { authorityRejected: "authority_rejected", alreadyCredited: "already_credited" },
  createItem: null,
  receiptDownload: null,
  identity: null,
  lookups: null,
};

test("the dialect without overrides is the contract's", () => {
  expect(parseDialect()).toEqual(defaults);
  expect(parseDialect({})).toEqual(defaults);
});

test("overrides are merged over the dialect's defaults, at every depth", () => {
  const dialect = parseDialect({
    createSale: { idempotencyKey: "sent", fields: { branch: null, saleDate: "date" } },
    stock: { report: null },
    identity: { method: "GET", path: "/v1/me" },
  });
  expect(dialect).toEqual({
    ...defaults,
    createSale: {
      ...defaults.createSale,
      idempotencyKey: "sent",
      fields: { ...defaults.createSale.fields, branch: null, saleDate: "date" },
    },
    stock: { ...defaults.stock, report: null },
    identity: { method: "GET", path: "/v1/me" },
  });
});

test("a sale's Idempotency-Key is trusted with a test key and only sent with a live one, unless the dialect states it", () => {
  expect(parseDialect({}, "test").createSale.idempotencyKey).toBe("trusted");
  expect(parseDialect({}, "live")).toEqual({
    ...defaults,
    createSale: { ...defaults.createSale, idempotencyKey: "sent" },
  });
  for (const idempotencyKey of ["off", "sent", "trusted"] as const)
    for (const kind of ["test", "live"] as const)
      expect(parseDialect({ createSale: { idempotencyKey } }, kind).createSale.idempotencyKey).toBe(idempotencyKey);
});

function problemsOf(overrides: unknown): readonly string[] {
  try {
    parseDialect(overrides);
  } catch (error) {
    if (error instanceof DialectError) return error.problems;
    throw error;
  }
  return [];
}

test("all problems of a dialect are reported together, each with its path", () => {
  const problems = problemsOf({
    createSales: {},
    createSale: { path: "v1/sales", fields: { invoice: "x", lines: null } },
    pull: { businessIdIn: "header" },
    lookups: { method: "GET", path: "/v1/lookups", extra: 1 },
  }).join("\n");
  expect(problems).toContain("dialect.createSales: the dialect has no such name");
  expect(problems).toContain("dialect.createSale.fields.invoice: the dialect has no such name");
  expect(problems).toContain("dialect.createSale.path: ");
  expect(problems).toContain("dialect.createSale.fields.lines: ");
  expect(problems).toContain("dialect.pull.businessIdIn: ");
  expect(problems).toContain("dialect.lookups.extra: the dialect has no such name");
});

test("two fields cannot be sent under one name", () => {
  expect(problemsOf({ createSale: { fields: { saleDate: "lines" } } })).toEqual([
    "dialect.createSale.fields.lines: the same name as saleDate",
  ]);
});

test.each([null, "x", 3, []])("%j is refused as a dialect", (value) => {
  expect(problemsOf(value)).toHaveLength(1);
});
