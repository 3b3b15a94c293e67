import { z } from "zod";

import { REFUND_REASONS, type RefundReason } from "../refund-reasons.ts";
import type { BranchOnlyToRestock, CreditNoteInput, RefundRequest } from "../sale.ts";
import type { SaleDocument } from "../documents.ts";
import type { RefundUpdate } from "../messages.ts";
import { calendarDate } from "./calendar-date.ts";
import { businessIdentifier, connectionName } from "./sale-input.ts";
import { invoiceNumber, printableText } from "./text.ts";

const REASONS = Object.keys(REFUND_REASONS) as [RefundReason, ...RefundReason[]];

export const refundReason = z.enum(REASONS, {
  error: `expected one of ${REASONS.map((code) => `"${code}" (${REFUND_REASONS[code]})`).join(", ")}`,
});

const refundFields = {
  reason: refundReason,
  traderInvoiceNumber: invoiceNumber(50),
  returnDate: calendarDate.optional(),
  restock: z.boolean().optional(),
  branch: printableText(200).optional(),
};

const branchOnlyToRestock = {
  path: ["branch"],
  error: "expected only together with restock: the branch says to which the goods are returned",
};

/** An answer about a sale of many lines has their number alone, which says nothing of what was sold. */
function hasItsLines(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("lines" in value)) return false;
  const { linesLeftOut } = value as Partial<SaleDocument>;
  return linesLeftOut === undefined || linesLeftOut.goods !== undefined;
}

const BRANCH_ONLY_TO_RESTOCK = {
  anyOf: [{ not: { required: ["branch"] } }, { required: ["restock"], properties: { restock: { const: true } } }],
};

function namesBranchToRestock<Fields extends { branch?: string | undefined; restock?: boolean | undefined }>(
  fields: Fields,
): fields is Fields & BranchOnlyToRestock {
  return fields.branch === undefined || fields.restock === true;
}

/** Of the signal `refundRequested`, and of whoever asks for a refund through the client. */
export const refundRequestSchema = z
  .strictObject(refundFields)
  .refine(namesBranchToRestock, branchOnlyToRestock)
  .meta(BRANCH_ONLY_TO_RESTOCK) satisfies z.ZodType<RefundRequest>;

/** Payload of the update `refund`. */
export const refundUpdateSchema = z
  .strictObject({
    ...refundFields,
    waitSeconds: z.number().min(0).max(60).optional().describe("Default: 20. 0 answers once the refund is accepted."),
  })
  .refine(namesBranchToRestock, branchOnlyToRestock)
  .meta(BRANCH_ONLY_TO_RESTOCK) satisfies z.ZodType<RefundUpdate>;

/** Input of the `creditNote` workflow. */
export const creditNoteInputSchema = z
  .strictObject({
    ...refundFields,
    connection: connectionName.optional(),
    businessId: businessIdentifier.optional(),
    saleId: printableText(200),
    callback: z.enum(["auto", "off"]).optional(),
    saleWorkflowId: printableText(1000).optional(),
    original: z.custom<SaleDocument>(hasItsLines, { error: "expected a sale with its lines" }).optional(),
  })
  .refine(namesBranchToRestock, branchOnlyToRestock)
  .meta(BRANCH_ONLY_TO_RESTOCK) satisfies z.ZodType<CreditNoteInput>;
