import { z } from "zod";

import { REFUND_REASONS, type RefundReason } from "../refund-reasons.ts";
import { calendarDate } from "./calendar-date.ts";
import { invoiceNumber, printableText } from "./text.ts";

const REASONS = Object.keys(REFUND_REASONS) as [RefundReason, ...RefundReason[]];

export const refundReason = z.enum(REASONS, {
  error: `expected one of ${REASONS.map((code) => `"${code}" (${REFUND_REASONS[code]})`).join(", ")}`,
});

/** How long a caller waits for what an update comes to. */
export const waitSeconds = z.number().min(0).max(60).optional();

/** A refund as the sale and its credit note know it. */
export const refundSchema = z.strictObject({
  reason: refundReason,
  traderInvoiceNumber: invoiceNumber(50).describe("The credit note's own number."),
  returnDate: calendarDate.optional().describe("Default: the Africa/Nairobi date of the request."),
  restock: z
    .boolean()
    .optional()
    .describe(
      "Return to stock what the sale is known to have taken, each line to the branch that it was taken from. Default: false.",
    ),
  // This is an operator's decision: nothing shows that the goods were ever taken.
  branch: printableText(200)
    .optional()
    .describe(
      "Only with restock, for a sale that took nothing from stock: the branch (its id or authorityBhfId) that has the goods.",
    ),
});

export type Refund = z.infer<typeof refundSchema>;

type BranchOnlyToRestock = { branch?: undefined } | { restock: true; branch: string };

/** Of what has the fields of a refund: its branch is named only together with `restock`. */
export function withBranchOnlyToRestock<Schema extends z.ZodType<Pick<Refund, "branch" | "restock">>>(schema: Schema) {
  const checked = schema.refine(({ branch, restock }) => branch === undefined || restock === true, {
    path: ["branch"],
    error: "expected only together with restock: the branch says to which the goods are returned",
  });
  return checked.meta({
    dependentSchemas: { branch: { required: ["restock"], properties: { restock: { const: true } } } },
  }) as Schema & z.ZodType<z.output<Schema> & BranchOnlyToRestock>;
}

/** Of the signal `refundRequested`, and of whoever asks for a refund through the client. */
export const refundRequestSchema = withBranchOnlyToRestock(refundSchema);

export type RefundRequest = z.infer<typeof refundRequestSchema>;

/** What the update `refund` takes. */
export const refundUpdateSchema = withBranchOnlyToRestock(
  refundSchema.extend({
    waitSeconds: waitSeconds.describe(
      "How long to wait for the credit note, and for the word that its number is another sale's. Default: 20. 0 answers once the refund is accepted.",
    ),
  }),
).describe("Reverse the sale in full.");
