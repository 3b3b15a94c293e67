import { z } from "zod";

import { distinctNames } from "../http/distinct-names.ts";
import { AccountingConfigurationError } from "./errors.ts";

/**
 * The names that the document does not show, in one place (docs/accounting.md). Every default is the
 * product's own choice; configuration overrides it. `null` = not sent, or off.
 */

const word = z.string().regex(/^\S+$/, "must be a name without spaces");
const optionalName = (fallback: string) => word.nullable().default(fallback);
const header = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "must be the name of a header");

const webhookSchema = z
  .strictObject({
    enabled: z.boolean().default(false),
    signatureHeader: header.default("X-Signature"),
    /** What stands before the signature in its header, `sha256=` for example. */
    signaturePrefix: z.string().default(""),
    timestampHeader: header.nullable().default(null),
    timestampUnit: z.enum(["ms", "s"]).default("ms"),
    /**
     * What the signature is made over: the body's bytes, or the timestamp, what stands between, and the body's bytes.
     */
    signed: z.enum(["body", "timestamp+body", "timestamp.body"]).default("body"),
    encoding: z.enum(["hex", "base64"]).default("hex"),
    /** Where an event's id stands: a field of the body, or a header. */
    eventId: z
      .union([word, z.strictObject({ header })])
      .nullable()
      .default(null),
  })
  .superRefine(({ signed, timestampHeader }, context) => {
    const refuse = (entry: string, message: string): void =>
      context.addIssue({ code: "custom", path: [entry], message });
    if (signed !== "body" && timestampHeader === null)
      refuse("timestampHeader", `must be named where \`signed\` is ${signed}`);
    // Whoever has seen one webhook could send it again for ever, under a timestamp of now.
    if (signed === "body" && timestampHeader !== null)
      refuse(
        "signed",
        "must be timestamp+body or timestamp.body where `timestampHeader` is named: one that is not signed proves nothing",
      );
  });

export const accountingDialectSchema = z
  .strictObject({
    billPayments: z
      .strictObject({
        page: word.default("page"),
        limit: word.default("limit"),
        paymentMethod: optionalName("paymentMethod"),
        status: optionalName("status"),
        sortBy: optionalName("sortBy"),
        sortDirection: optionalName("sortDirection"),
      })
      .superRefine(distinctNames)
      .prefault({}),
    companies: z
      .strictObject({
        /** `null`: the answer itself is the list. */
        list: optionalName("data"),
      })
      .prefault({}),
    signature: z
      .strictObject({
        /** Whether the query string belongs to the signed path. */
        query: z.boolean().default(false),
      })
      .prefault({}),
    webhook: webhookSchema.prefault({}),
  })
  .prefault({});

export type AccountingDialect = z.output<typeof accountingDialectSchema>;
export type WebhookDialect = AccountingDialect["webhook"];

/**
 * Partial overrides, merged over the defaults.
 *
 * @throws AccountingConfigurationError with every problem and its path, an unknown name among them
 */
export function parseAccountingDialect(overrides?: unknown): AccountingDialect {
  const parsed = accountingDialectSchema.safeParse(overrides);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => {
    const at = ["dialect", ...issue.path.map(String)].join(".");
    return issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => `${at}.${key}: the dialect has no such name`)
      : [`${at}: ${issue.message}`];
  });
  throw new AccountingConfigurationError("invalid-dialect", problems);
}
