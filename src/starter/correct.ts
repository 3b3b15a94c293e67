import type { Attention } from "../contract/attention.ts";
import { type Correction, isCorrectionLeft } from "../contract/correction.ts";
import type { Refund, RefundRequest } from "../contract/schema/sale.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import type { SaleState } from "./answer-from-ledger.ts";
import type { CheckedRefund } from "./refund.ts";

/** A refund that names the sale which replaces the credited one. The goods go back, as that sale takes its own. */
export type CorrectionRequest = Pick<RefundRequest, "reason" | "traderInvoiceNumber" | "returnDate"> &
  Required<Pick<RefundRequest, "replaceWith">>;

/** Where the correction of a sale stands. */
export interface KnownCorrection extends Correction {
  /** Of the sale that is corrected. */
  workflowId: string;
  /** The number of the sale that is corrected. */
  invoice: string;
  /** In words: what happens next. */
  waitingFor: string;
  /** What the sale that is corrected needs an operator for; `heldUp` says it of the corrected one. */
  attentions: Attention[];
}

export type CheckedCorrection = KnownCorrection & Pick<CheckedRefund, "warnings">;

/** The rest is checked as a refund. @throws InvalidInputError */
export function requireReplacement(request: Partial<CorrectionRequest> | undefined): void {
  if (request?.replaceWith === undefined)
    throw new InvalidInputError("correction", ["replaceWith: expected the corrected sale, found none"]);
}

/** @returns undefined where the sale is not corrected */
export function correctionIn(
  { correction, refund, waitingFor, attentions }: SaleState,
  of: Pick<KnownCorrection, "workflowId" | "invoice">,
): KnownCorrection | undefined {
  const known = correction ?? (refund && toBegin(refund));
  // The sale itself may still wait for something else.
  return known && { ...of, ...known, waitingFor: isCorrectionLeft(known) ? waitingFor : "nothing", attentions };
}

/** A correction that is accepted, and that its sale has not begun yet. */
function toBegin({ replaceWith, traderInvoiceNumber: creditNote }: Refund): Correction | undefined {
  return replaceWith && { correctedBy: replaceWith.traderInvoiceNumber, creditNote, stage: "preparing" };
}
