import { z } from "zod";

import type { SaleDocument } from "../documents.ts";
import type { CreditNoteInput } from "../sale.ts";
import { refundSchema, withBranchOnlyToRestock } from "./refund-request.ts";
import { businessIdentifier, connectionName } from "./sale-input.ts";
import { printableText } from "./text.ts";

/** An answer about a sale of many lines has their number alone, which says nothing of what was sold. */
function hasItsLines(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("lines" in value)) return false;
  const { linesLeftOut } = value as Partial<SaleDocument>;
  return linesLeftOut === undefined || linesLeftOut.goods !== undefined;
}

/** Input of the `creditNote` workflow. */
export const creditNoteInputSchema = withBranchOnlyToRestock(
  refundSchema.extend({
    connection: connectionName.optional(),
    businessId: businessIdentifier.optional(),
    saleId: printableText(200),
    callback: z.enum(["auto", "off"]).optional(),
    saleWorkflowId: printableText(1000).optional(),
    original: z.custom<SaleDocument>(hasItsLines, { error: "expected a sale with its lines" }).optional(),
  }),
) satisfies z.ZodType<CreditNoteInput>;
