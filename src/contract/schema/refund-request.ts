import { z } from "zod";

import { REFUND_REASONS, type RefundReason } from "../refund-reasons.ts";
import type { Replacement } from "../sale-fields.ts";
import { calendarDate } from "./calendar-date.ts";
import { always, correctedSaleSchema } from "./sale-input.ts";
import { invoiceNumber, printableText } from "./text.ts";

const REASONS = Object.keys(REFUND_REASONS) as [RefundReason, ...RefundReason[]];

export const refundReason = z.enum(REASONS, {
  error: `expected one of ${REASONS.map((code) => `"${code}" (${REFUND_REASONS[code]})`).join(", ")}`,
});

/** How long a caller waits for what an update comes to. */
export const waitSeconds = z.number().min(0).max(60).optional();

/** A refund as it is asked for. */
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
  replaceWith: correctedSaleSchema
    .optional()
    .describe(
      "The corrected sale, under a number of its own: it is checked before the sale is credited, and issued afterwards. What the credited sale took goes back to stock, so that restock is left out.",
    ),
});

/** A refund as the sale and its credit note know it. */
export type Refund = z.infer<typeof refundSchema> & {
  /** In place of `replaceWith`, once the row of the corrected sale has that. */
  replacedBy?: Replacement | undefined;
};

type BranchOnlyToRestock = { branch?: undefined } | { restock: true; branch: string };

/** Of what has the fields of a refund: what one of them says of the others. */
function withItsRules<Schema extends z.ZodType<z.infer<typeof refundSchema>>>(schema: Schema) {
  const checked = schema
    .refine(({ branch, restock }) => branch === undefined || restock === true, {
      ...always,
      path: ["branch"],
      error: "expected only together with restock: the branch says to which the goods are returned",
    })
    .refine(({ replaceWith, restock }) => replaceWith === undefined || restock === undefined, {
      ...always,
      path: ["restock"],
      error: "expected nothing beside replaceWith: what the credited sale took goes back in any case",
    })
    .refine(({ replaceWith, traderInvoiceNumber: number }) => replaceWith?.traderInvoiceNumber !== (number ?? ""), {
      ...always,
      path: ["replaceWith", "traderInvoiceNumber"],
      error: "expected another number than that of the credit note",
    });
  return checked.meta({
    dependentSchemas: {
      branch: { required: ["restock"], properties: { restock: { const: true } } },
      replaceWith: { properties: { restock: false } },
    },
  }) as Schema & z.ZodType<z.output<Schema> & BranchOnlyToRestock>;
}

/** Of the signal `refundRequested`, and of whoever asks for a refund through the client. */
export const refundRequestSchema = withItsRules(refundSchema);

export type RefundRequest = z.infer<typeof refundRequestSchema>;

/** What the update `refund` takes. */
export const refundUpdateSchema = withItsRules(
  refundSchema.extend({
    waitSeconds: waitSeconds.describe(
      "How long to wait for the credit note, and for the word that its number is another sale's. Default: 20. 0 answers once the refund is accepted.",
    ),
  }),
).describe("Reverse the sale in full.");
