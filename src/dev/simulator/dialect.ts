import { z } from "zod";
import { parseInstruction } from "./scenario.ts";

const name = z.string().min(1);
/** Null: the dialect has no such field. */
const fieldName = (usual: string) => name.nullable().default(usual);
const path = z.string().regex(/^\/[^\s?#]*$/, "must be a path that begins with /");
const businessIdIn = z.enum(["query", "body"]).default("query");
const branchBy = z.enum(["id", "authorityBhfId", "authorityId"]).default("id");
const operation = z.strictObject({
  method: z.enum(["GET", "POST", "PUT"]),
  path,
  fields: z.record(z.string(), name.nullable()).optional(),
});
/** An operation that the document only names: it exists once it has a method and a path. */
const namedOperation = operation.nullable().default(null);

/** The names and switches that the document "Fiscal Compliance API" does not show. */
export const dialectSchema = z.strictObject({
  createSale: z
    .strictObject({
      path: path.default("/v1/sales"),
      businessIdIn,
      // How far a client trusts the key. The simulator's own habit is the setting `ignoreIdempotencyKeyOnSales`.
      idempotencyKey: z.enum(["off", "sent", "trusted"]).default("trusted"),
      fields: z
        .strictObject({
          traderInvoiceNumber: name.default("traderInvoiceNumber"),
          saleDate: fieldName("saleDate"),
          paymentTypeCode: fieldName("paymentTypeCode"),
          customer: fieldName("customer"),
          lines: name.default("lines"),
          branch: fieldName("branchId"),
          callbackUrl: fieldName("callbackUrl"),
        })
        .prefault({}),
      lineFields: z
        .strictObject({
          itemId: name.default("itemId"),
          quantity: name.default("quantity"),
          unitPrice: fieldName("unitPrice"),
        })
        .prefault({}),
      customerFields: z
        .strictObject({
          name: fieldName("name"),
          pin: fieldName("pin"),
          phone: fieldName("phone"),
          email: fieldName("email"),
        })
        .prefault({}),
      branchBy,
    })
    .prefault({}),
  creditNote: z.strictObject({ businessIdIn }).prefault({}),
  retry: z.strictObject({ businessIdIn }).prefault({}),
  stock: z
    .strictObject({ businessIdIn, branch: fieldName("branchId"), branchBy, report: fieldName("fiscal") })
    .prefault({}),
  register: z.strictObject({ branch: fieldName("branchId"), branchBy, force: fieldName("force") }).prefault({}),
  purchases: z
    .strictObject({
      cursor: fieldName("cursor"),
      pageSize: fieldName("pageSize"),
      status: fieldName("status"),
      from: fieldName("from"),
      to: fieldName("to"),
    })
    .prefault({}),
  pull: z.strictObject({ path: path.default("/v1/purchases/pull"), businessIdIn }).prefault({}),
  businesses: z
    .strictObject({
      list: name.default("businesses"),
      id: name.default("id"),
      branches: name.default("branches"),
      branchId: name.default("id"),
      authorityId: name.default("authorityBhfId"),
    })
    .prefault({}),
  errors: z
    .strictObject({
      authorityRejected: name.default("authority_rejected"),
      alreadyCredited: name.default("already_credited"),
    })
    .prefault({}),
  createItem: namedOperation,
  // The first content type of `accept` is the one that is served.
  receiptDownload: operation.extend({ accept: z.string().optional() }).nullable().default(null),
  identity: namedOperation,
  lookups: namedOperation,
});
export type Dialect = z.infer<typeof dialectSchema>;

/** The names and switches that the accounting service's document does not show. */
export const accountingDialectSchema = z.strictObject({
  billPayments: z
    .strictObject({
      page: name.default("page"),
      limit: name.default("limit"),
      paymentMethod: fieldName("paymentMethod"),
      status: fieldName("status"),
      sortBy: fieldName("sortBy"),
      sortDirection: fieldName("sortDirection"),
    })
    .prefault({}),
  companies: z.strictObject({ list: fieldName("data") }).prefault({}),
  signature: z.strictObject({ query: z.boolean().default(false) }).prefault({}),
  webhook: z
    .strictObject({
      /** For a receiver to say; the simulator sends where it is given a URL. */
      enabled: z.boolean().default(false),
      signatureHeader: name.default("X-Signature"),
      signaturePrefix: z.string().default(""),
      timestampHeader: name.nullable().default(null),
      timestampUnit: z.enum(["ms", "s"]).default("ms"),
      signed: z.enum(["body", "timestamp+body", "timestamp.body"]).default("body"),
      encoding: z.enum(["hex", "base64"]).default("hex"),
      eventId: z
        .union([name, z.strictObject({ header: name })])
        .nullable()
        .default(null),
    })
    .prefault({}),
});
export type AccountingDialect = z.infer<typeof accountingDialectSchema>;

/** A partial dialect over the usual names; an unknown name or a wrong value throws and names its path. */
export function parseDialect(partial: unknown = {}): Dialect {
  return parseInstruction("dialect", dialectSchema, partial);
}

export function parseAccountingDialect(partial: unknown = {}): AccountingDialect {
  return parseInstruction("accounting dialect", accountingDialectSchema, partial);
}
