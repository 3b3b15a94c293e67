import { z } from "zod";
import { NO_BUSINESS } from "../ids.ts";
import { NAME_PATTERN } from "../names.ts";
import { calendarDate, duration, printableText, SAYS_FOUND } from "./parse-input.ts";
import { LONGEST_OWN_NUMBER, UPDATE_FORMS } from "../updates.ts";
import { REFUND_REASONS, type RefundReason } from "../codes.ts";

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

/** Looked at even if a field is wrong, so that every problem is named at once. */
export const always = {
  when: ({ value }: { value: unknown }): boolean =>
    typeof value === "object" && value !== null && !Array.isArray(value),
};

/** Beyond it, sums of lines would leave the numbers that JSON carries exactly. */
const LARGEST_NUMBER = 1e12;

const LINE_KEYS = ["itemId", "externalId", "sku"] as const;

/** One line as a caller writes it: it names its item in exactly one way. */
export type SaleLineInput = (
  | { itemId: string; externalId?: undefined; sku?: undefined }
  | { externalId: string; itemId?: undefined; sku?: undefined }
  | { sku: string; itemId?: undefined; externalId?: undefined }
) & { quantity: number; unitPrice: number };

type LineKeys = { [Key in (typeof LINE_KEYS)[number]]?: unknown };

function keysOf(line: LineKeys): string[] {
  return LINE_KEYS.filter((key) => line[key] !== undefined);
}

const line: z.ZodType<SaleLineInput> = z
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
    ...SAYS_FOUND,
    error: ({ input }) => {
      const given = keysOf(input as LineKeys).join(" and ") || "none";
      return `expected the item to be named by exactly one of itemId, externalId and sku, found ${given}`;
    },
  })
  .meta({ oneOf: LINE_KEYS.map((key) => ({ required: [key] })) });

const customer = z.strictObject({
  name: printableText(200).optional(),
  pin: printableText(50).optional(),
  phone: printableText(50).optional(),
  email: printableText(320).optional(),
});

export type CustomerInput = z.infer<typeof customer>;

/** Only what we issue ourselves is bound to the API's 50 characters. */
export const LONGEST_NUMBER = 1000;

/** The fields of a sale's input (https://github.com/fiscalflow/fiscalflow/blob/main/docs/sale-input.md). */
export const saleFields = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  branch: identifier.optional().describe("A branch's id or its authorityBhfId. Default: the business's first branch."),
  traderInvoiceNumber: printableText(LONGEST_NUMBER),
  saleDate: calendarDate.optional().describe("Default: the Africa/Nairobi date of the workflow's start."),
  paymentTypeCode: printableText(50).optional(),
  customer: customer.optional(),
  lines: z
    .array(line, { error: "expected a list of lines" })
    .min(1, { error: "expected at least one line" })
    .max(1000, { error: "expected at most 1000 lines" })
    .optional(),
  saleId: identifier.optional().describe("Adopts a sale that was issued elsewhere."),
  expectedTotal: finite.optional(),
  stock: z.enum(["on-submission", "on-completion", "off"]).optional(),
  callback: z.enum(["auto", "off"]).optional(),
  refundWindow: duration.optional(),
});

export type SaleFields = z.infer<typeof saleFields>;
export type SaleInput = SaleFields & ({ saleId: string } | { lines: SaleLineInput[] });
/** What does not reach the document. */
export type SaleOptions = Pick<SaleFields, "stock" | "callback" | "refundWindow">;
export type StockMode = NonNullable<SaleFields["stock"]>;

function longestNumberOf(fields: { saleId?: unknown; lines?: unknown }): number {
  return fields.saleId === undefined && fields.lines !== undefined ? LONGEST_OWN_NUMBER : LONGEST_NUMBER;
}

export function checkNumber(
  sale: { traderInvoiceNumber: unknown; saleId?: unknown; lines?: unknown },
  context: z.RefinementCtx,
) {
  const { traderInvoiceNumber: number } = sale;
  const characters = typeof number === "string" ? Array.from(number).length : 0;
  if (characters <= longestNumberOf(sale) || characters > LONGEST_NUMBER) return;
  const message = `expected at most ${LONGEST_OWN_NUMBER} characters, found ${characters}`;
  context.addIssue({ code: "custom", path: ["traderInvoiceNumber"], message, ...SAYS_FOUND });
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
  });

const { saleId: _adopted, lines, ...fields } = saleFields.shape;

/** The sale that replaces one which is credited: it is issued, and never adopted. */
export const correctedSaleSchema = z.strictObject({
  ...fields,
  traderInvoiceNumber: printableText(LONGEST_OWN_NUMBER),
  lines: lines.unwrap(),
});

export type CorrectedSaleInput = z.infer<typeof correctedSaleSchema>;

const REASONS = Object.keys(REFUND_REASONS) as [RefundReason, ...RefundReason[]];

export const refundReason = z.enum(REASONS, {
  error: `expected one of ${REASONS.map((code) => `"${code}" (${REFUND_REASONS[code]})`).join(", ")}`,
});

const { properties: described } = UPDATE_FORMS.refund;

export const refundSchema = z.strictObject({
  reason: refundReason,
  traderInvoiceNumber: printableText(LONGEST_OWN_NUMBER).describe(described.traderInvoiceNumber.description),
  returnDate: calendarDate.optional().describe(described.returnDate.description),
  restock: z.boolean().optional().describe(described.restock.description),
  // This is an operator's decision: nothing shows that the goods were ever taken.
  branch: identifier.optional().describe(described.branch.description),
  replaceWith: correctedSaleSchema.optional().describe(described.replaceWith.description),
});

/** What is kept of the corrected sale beside the credited one: its own row has the rest. */
export interface Replacement {
  traderInvoiceNumber: string;
  /** Of its content, as its own workflow makes it. */
  fingerprint: string;
}

/** A refund as the sale and its credit note know it. */
export type Refund = z.infer<typeof refundSchema> & {
  /** In place of `replaceWith`, once the row of the corrected sale has that. */
  replacedBy?: Replacement | undefined;
};

type BranchOnlyToRestock = { branch?: undefined } | { restock: true; branch: string };

/** Of the signal `refundRequested`, and of the client's `refund`. */
export const refundRequestSchema = refundSchema
  .refine(
    (refund): refund is z.infer<typeof refundSchema> & BranchOnlyToRestock =>
      refund.branch === undefined || refund.restock === true,
    {
      ...always,
      path: ["branch"],
      error: "expected only together with restock: the branch says to which the goods are returned",
    },
  )
  .refine(({ replaceWith, restock }) => replaceWith === undefined || restock === undefined, {
    ...always,
    path: ["restock"],
    error: "expected nothing beside replaceWith: what the credited sale took goes back in any case",
  })
  .refine(({ replaceWith, traderInvoiceNumber: number }) => replaceWith?.traderInvoiceNumber !== (number ?? ""), {
    ...always,
    path: ["replaceWith", "traderInvoiceNumber"],
    error: "expected another number than that of the credit note",
  })
  .meta({
    dependentSchemas: {
      branch: { required: ["restock"], properties: { restock: { const: true } } },
      replaceWith: { properties: { restock: false } },
    },
  });

export type RefundRequest = z.infer<typeof refundRequestSchema>;

/**
 * Input of the `sale` workflow, checked in its first activity. With neither lines nor `saleId` it carries on the sale
 * that the ledger has under the number, and `refund` is asked of it at once, for callers that can only start.
 */
export const saleStartSchema = saleFields
  .extend({ refund: refundRequestSchema.optional() })
  .superRefine(checkNumber, always)
  .meta({
    anyOf: [
      { required: ["saleId"] },
      { properties: { lines: false } },
      { properties: { traderInvoiceNumber: { maxLength: LONGEST_OWN_NUMBER } } },
    ],
  });

export type SaleStart = z.infer<typeof saleStartSchema>;

export const findSaleInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  traderInvoiceNumber: printableText(LONGEST_NUMBER),
});

export type FindSaleInput = z.infer<typeof findSaleInputSchema>;
