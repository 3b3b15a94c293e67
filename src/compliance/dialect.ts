import { z } from "zod";

import { distinctNames } from "../http/distinct-names.ts";
import type { KeyKind } from "./api-key.ts";
import { field } from "./error-envelope.ts";
import { ComplianceConfigurationError } from "./errors.ts";

/**
 * The names that the document does not show, in one place (docs/dialect.md). Every default is
 * the product's own choice; configuration overrides it. `null` = not sent, or off.
 */

const word = z.string().regex(/^\S+$/, "must be a name without spaces");
const name = (fallback: string) => word.default(fallback);
const optionalName = (fallback: string) => word.nullable().default(fallback);
const path = (fallback: string) =>
  z
    .string()
    .regex(/^\/[^\s?#]*$/, 'must be a path that begins with "/"')
    .default(fallback);
const businessIdIn = z.enum(["query", "body"]).default("query");
const branchBy = z.enum(["id", "authorityId"]).default("id");

const describedOperation = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]),
  path: z.string().regex(/^\/[^\s?#]*$/, 'must be a path that begins with "/"'),
  fields: z.record(z.string(), word.nullable()).optional(),
});
const namedOperation = describedOperation.nullable().default(null);
const accept = z.string().regex(/^[\x21-\x7e][\x20-\x7e]*$/, "must be content types, such as application/pdf");

export const dialectSchema = z
  .strictObject({
    createSale: z
      .strictObject({
        path: path("/v1/sales"),
        businessIdIn,
        /**
         * `off`: no key is sent. `sent`: sent, but a lost answer parks. `trusted`: a lost answer is repeated under the
         * same key. Unstated with a `cmp_sk_live_` key it is `sent`: the document shows the header for credit notes
         * only.
         */
        idempotencyKey: z.enum(["off", "sent", "trusted"]).default("trusted"),
        fields: z
          .strictObject({
            traderInvoiceNumber: name("traderInvoiceNumber"),
            saleDate: optionalName("saleDate"),
            paymentTypeCode: optionalName("paymentTypeCode"),
            customer: optionalName("customer"),
            lines: name("lines"),
            branch: optionalName("branchId"),
            callbackUrl: optionalName("callbackUrl"),
          })
          .superRefine(distinctNames)
          .prefault({}),
        lineFields: z
          .strictObject({ itemId: name("itemId"), quantity: name("quantity"), unitPrice: optionalName("unitPrice") })
          .superRefine(distinctNames)
          .prefault({}),
        customerFields: z
          .strictObject({
            name: optionalName("name"),
            pin: optionalName("pin"),
            phone: optionalName("phone"),
            email: optionalName("email"),
          })
          .superRefine(distinctNames)
          .prefault({}),
        branchBy,
      })
      .prefault({}),
    creditNote: z.strictObject({ businessIdIn }).prefault({}),
    retry: z.strictObject({ businessIdIn }).prefault({}),
    stock: z
      .strictObject({ businessIdIn, branch: optionalName("branchId"), branchBy, report: optionalName("fiscal") })
      .prefault({}),
    register: z.strictObject({ branch: optionalName("branchId"), branchBy, force: optionalName("force") }).prefault({}),
    purchases: z
      .strictObject({
        cursor: optionalName("cursor"),
        pageSize: optionalName("pageSize"),
        status: optionalName("status"),
        from: optionalName("from"),
        to: optionalName("to"),
      })
      .superRefine(distinctNames)
      .prefault({}),
    pull: z.strictObject({ path: path("/v1/purchases/pull"), businessIdIn }).prefault({}),
    businesses: z
      .strictObject({
        /** `null`: `data` itself is the list. */
        list: optionalName("businesses"),
        id: name("id"),
        branches: optionalName("branches"),
        branchId: name("id"),
        authorityId: optionalName("authorityBhfId"),
      })
      .prefault({}),
    errors: z
      .strictObject({
        authorityRejected: optionalName("authority_rejected"),
        alreadyCredited: optionalName("already_credited"),
      })
      .prefault({}),
    createItem: namedOperation,
    receiptDownload: describedOperation
      .extend({ accept: accept.default("*/*") })
      .nullable()
      .default(null),
    identity: namedOperation,
    lookups: namedOperation,
  })
  .prefault({});

export type ComplianceDialect = z.output<typeof dialectSchema>;

/**
 * Partial overrides, merged over the defaults.
 *
 * @param keyKind of the connection's key, on which one default depends
 * @throws ComplianceConfigurationError with every problem and its path, an unknown name among them
 */
export function parseDialect(overrides?: unknown, keyKind: KeyKind = "test"): ComplianceDialect {
  const parsed = dialectSchema.safeParse(overrides);
  if (parsed.success) {
    const { createSale, ...others } = parsed.data;
    if (keyKind === "test" || statesSaleKey(overrides)) return parsed.data;
    // A repetition that the service does not recognise would be a second real document.
    return { ...others, createSale: { ...createSale, idempotencyKey: "sent" } };
  }
  const problems = parsed.error.issues.flatMap((issue) => {
    const at = ["dialect", ...issue.path.map(String)].join(".");
    return issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => `${at}.${key}: the dialect has no such name`)
      : [`${at}: ${issue.message}`];
  });
  throw new ComplianceConfigurationError("invalid-dialect", problems);
}

/** Whether the overrides say what the service does with the Idempotency-Key of a sale. */
export function statesSaleKey(overrides: unknown): boolean {
  return field(field(overrides, "createSale"), "idempotencyKey") !== undefined;
}
