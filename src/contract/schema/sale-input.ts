import { z } from "zod";

import { NO_BUSINESS } from "../ids.ts";
import { NAME_PATTERN } from "../names.ts";
import type { CorrectedSaleInput, SaleInput, SaleLineInput } from "../sale-fields.ts";
import { calendarDate } from "./calendar-date.ts";
import { duration } from "./duration.ts";
import { invoiceNumber, printableText } from "./text.ts";

export const connectionName = z
  .string()
  .regex(NAME_PATTERN, { error: "expected the name of a connection: 1 to 32 of a-z, 0-9 and -" });

/** Temporal refuses fairness keys over 64 bytes, for ever, and the business is one. */
export const businessIdentifier = printableText(64)
  .refine((text) => Buffer.byteLength(text) <= 64, { error: "expected at most 64 bytes" })
  .refine((text) => text !== NO_BUSINESS, { error: "expected a business; - stands for none in workflow ids" })
  .meta({ not: { const: NO_BUSINESS } });

const identifier = printableText(200);

const finite = z.number({ error: "expected a finite number" });

/** Looked at even where a field is wrong, so that every problem is named at once. */
export const always = {
  when: ({ value }: { value: unknown }): boolean =>
    typeof value === "object" && value !== null && !Array.isArray(value),
};

/** Beyond it, sums of lines would leave the numbers that JSON carries exactly. */
const LARGEST_NUMBER = 1e12;

const LINE_KEYS = ["itemId", "externalId", "sku"] as const;

type LineKeys = { [Key in (typeof LINE_KEYS)[number]]?: unknown };

function keysOf(line: LineKeys): string[] {
  return LINE_KEYS.filter((key) => line[key] !== undefined);
}

const line = z
  .strictObject({
    itemId: identifier.optional(),
    externalId: identifier.optional(),
    sku: identifier.optional(),
    quantity: finite
      .positive({ error: "expected a number greater than 0" })
      .max(LARGEST_NUMBER, { error: "expected at most 1e12" }),
    unitPrice: finite
      .nonnegative({ error: "expected a number of at least 0" })
      .max(LARGEST_NUMBER, { error: "expected at most 1e12" }),
  })
  .refine((value): value is SaleLineInput => keysOf(value).length === 1, {
    ...always,
    error: ({ input }) => {
      const given = keysOf(input as LineKeys).join(" and ") || "none";
      return `expected the item to be named by exactly one of itemId, externalId and sku, found ${given}`;
    },
  })
  .meta({ oneOf: LINE_KEYS.map((key) => ({ required: [key] })) }) satisfies z.ZodType<SaleLineInput>;

const customer = z.strictObject({
  name: printableText(200).optional(),
  pin: printableText(50).optional(),
  phone: printableText(50).optional(),
  email: printableText(320).optional(),
});

/** Of a sale that is adopted. */
export const LONGEST_NUMBER = 1000;
/** Of what we issue ourselves (Fiscal Compliance API, POST /v1/sales). */
export const LONGEST_OWN_NUMBER = 50;

export const saleFields = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  branch: identifier.optional(),
  traderInvoiceNumber: invoiceNumber(LONGEST_NUMBER),
  saleDate: calendarDate.optional(),
  paymentTypeCode: printableText(50).optional(),
  customer: customer.optional(),
  lines: z
    .array(line, { error: "expected a list of lines" })
    .min(1, { error: "expected at least one line" })
    .max(1000, { error: "expected at most 1000 lines" })
    .optional(),
  saleId: identifier.optional(),
  expectedTotal: finite.optional(),
  stock: z.enum(["on-submission", "on-completion", "off"]).optional(),
  callback: z.enum(["auto", "off"]).optional(),
  refundWindow: duration.optional(),
});

function longestNumberOf(fields: { saleId?: unknown; lines?: unknown }): number {
  return fields.saleId === undefined && fields.lines !== undefined ? LONGEST_OWN_NUMBER : LONGEST_NUMBER;
}

/** Looked at even where a field is wrong. */
export function checkNumber(
  sale: { traderInvoiceNumber: unknown; saleId?: unknown; lines?: unknown },
  context: z.RefinementCtx,
) {
  const { traderInvoiceNumber: number } = sale;
  const characters = typeof number === "string" ? Array.from(number).length : 0;
  if (characters <= longestNumberOf(sale) || characters > LONGEST_NUMBER) return;
  const message = `expected at most ${LONGEST_OWN_NUMBER} characters, found ${characters}`;
  context.addIssue({ code: "custom", path: ["traderInvoiceNumber"], message });
}

/** A sale that is to be issued, or is adopted: what the starter takes. */
export const saleInputSchema = saleFields
  .refine((sale): sale is SaleInput => sale.saleId !== undefined || sale.lines !== undefined, {
    ...always,
    path: ["lines"],
    error: "expected at least one line (only a sale adopted by saleId may come without)",
  })
  .superRefine(checkNumber, always)
  .meta({
    anyOf: [
      { required: ["saleId"] },
      { required: ["lines"], properties: { traderInvoiceNumber: { maxLength: LONGEST_OWN_NUMBER } } },
    ],
  }) satisfies z.ZodType<SaleInput>;

const { saleId: _adopted, lines, ...fields } = saleFields.shape;

/** The sale that replaces one which is credited: it is issued, and never adopted. */
export const correctedSaleSchema = z.strictObject({
  ...fields,
  traderInvoiceNumber: invoiceNumber(LONGEST_OWN_NUMBER),
  lines: lines.unwrap(),
}) satisfies z.ZodType<CorrectedSaleInput>;
