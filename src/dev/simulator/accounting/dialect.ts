import { z } from "zod";
import { merged } from "../dialect.ts";
import { parseInstruction } from "../problems.ts";

const name = z.string().min(1);
const optionalName = name.nullable();

/** Every name and switch, for whoever must vary them all. */
export const accountingDialectSchema = z.strictObject({
  billPayments: z.strictObject({
    page: name,
    limit: name,
    paymentMethod: optionalName,
    status: optionalName,
    sortBy: optionalName,
    sortDirection: optionalName,
  }),
  companies: z.strictObject({ list: optionalName }),
  signature: z.strictObject({ query: z.boolean() }),
  webhook: z.strictObject({
    /** For a receiver to say; the simulator sends where it is given a URL. */
    enabled: z.boolean(),
    signatureHeader: name,
    signaturePrefix: z.string(),
    timestampHeader: optionalName,
    timestampUnit: z.enum(["ms", "s"]),
    signed: z.enum(["body", "timestamp+body", "timestamp.body"]),
    encoding: z.enum(["hex", "base64"]),
    eventId: z.union([name, z.strictObject({ header: name })]).nullable(),
  }),
});

/** The names and switches that the accounting service's document does not show. */
export type AccountingDialect = z.infer<typeof accountingDialectSchema>;

const defaults: AccountingDialect = {
  billPayments: {
    page: "page",
    limit: "limit",
    paymentMethod: "paymentMethod",
    status: "status",
    sortBy: "sortBy",
    sortDirection: "sortDirection",
  },
  companies: { list: "data" },
  signature: { query: false },
  webhook: {
    enabled: false,
    signatureHeader: "X-Signature",
    signaturePrefix: "",
    timestampHeader: null,
    timestampUnit: "ms",
    signed: "body",
    encoding: "hex",
    eventId: null,
  },
};

/** A partial dialect over the defaults; an unknown name or a wrong value throws and names its path. */
export function parseAccountingDialect(partial: unknown): AccountingDialect {
  return parseInstruction("accounting dialect", accountingDialectSchema, merged(defaults, partial ?? {}));
}
