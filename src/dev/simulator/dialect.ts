import { z } from "zod";
import { parseInstruction } from "./problems.ts";

const name = z.string().min(1);
const optionalName = name.nullable();
const path = z.string().regex(/^\/[^\s?#]*$/, "must be a path that begins with /");
const businessIdIn = z.enum(["query", "body"]);
const branchBy = z.enum(["id", "authorityBhfId", "authorityId"]);
const describedOperation = z.strictObject({
  method: z.enum(["GET", "POST", "PUT"]),
  path,
  fields: z.record(z.string(), optionalName).optional(),
});
const extraOperation = describedOperation.nullable();

/** Every name and switch, for whoever must vary them all. */
export const dialectSchema = z.strictObject({
  createSale: z.strictObject({
    path,
    businessIdIn,
    // How far a client trusts the key. The simulator's own habit is the option `ignoreIdempotencyKeyOnSales`.
    idempotencyKey: z.enum(["off", "sent", "trusted"]),
    fields: z.strictObject({
      traderInvoiceNumber: name,
      saleDate: optionalName,
      paymentTypeCode: optionalName,
      customer: optionalName,
      lines: name,
      branch: optionalName,
      callbackUrl: optionalName,
    }),
    lineFields: z.strictObject({ itemId: name, quantity: name, unitPrice: optionalName }),
    customerFields: z.strictObject({ name: optionalName, pin: optionalName, phone: optionalName, email: optionalName }),
    branchBy,
  }),
  creditNote: z.strictObject({ businessIdIn }),
  retry: z.strictObject({ businessIdIn }),
  stock: z.strictObject({ businessIdIn, branch: optionalName, branchBy, report: optionalName }),
  register: z.strictObject({ branch: optionalName, branchBy, force: optionalName }),
  purchases: z.strictObject({
    cursor: optionalName,
    pageSize: optionalName,
    status: optionalName,
    from: optionalName,
    to: optionalName,
  }),
  pull: z.strictObject({ path, businessIdIn }),
  businesses: z.strictObject({ list: name, id: name, branches: name, branchId: name, authorityId: name }),
  errors: z.strictObject({ authorityRejected: name, alreadyCredited: name }),
  createItem: extraOperation,
  // The first content type of `accept` is the one that is served.
  receiptDownload: describedOperation.extend({ accept: z.string().optional() }).nullable(),
  identity: extraOperation,
  lookups: extraOperation,
});

/** The names and switches that the document does not show. */
export type Dialect = z.infer<typeof dialectSchema>;
export type BranchBy = z.infer<typeof branchBy>;

const defaults: Dialect = {
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `override` over `base`, at every depth. */
export function merged(base: unknown, override: unknown): unknown {
  if (override === undefined) return base;
  if (!isObject(base) || !isObject(override)) return override;
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(override)) result[key] = merged(base[key], value);
  return result;
}

/** A partial dialect over the defaults; an unknown name or a wrong value throws and names its path. */
export function parseDialect(partial: unknown): Dialect {
  return parseInstruction("dialect", dialectSchema, merged(defaults, partial ?? {}));
}
