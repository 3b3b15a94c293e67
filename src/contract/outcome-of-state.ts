import { holdsUpDocument } from "./attention.ts";
import type { WorkflowState } from "./messages.ts";
import type { Refund, SaleOutcome } from "./sale.ts";

/**
 * The outcome as the state tells it: what the `outcome` update answers, and what a caller reads out of the `state`
 * query.
 */
export function outcomeOfState(state: WorkflowState): SaleOutcome {
  const { stage, document, creditNote, refund, stockMovements, cancelRequested, numberTaken, nextWait } = state;
  const { attentions, correction, inAll } = state;
  const attention = attentions.find((one) => holdsUpDocument(one, stockMovements)) ?? attentions[0];
  return {
    stage,
    sale: document,
    receipt: document?.receipt ?? null,
    ...(creditNote && { creditNote }),
    ...(refund && { refund: kept(refund) }),
    ...(correction && { correction }),
    stockMovements,
    ...(inAll?.stockMovements && { inAll: { stockMovements: inAll.stockMovements } }),
    ...(attention && { attention }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    numberTaken,
    nextWait,
  };
}

/** A corrected sale of many lines is not repeated in every answer. */
function kept({ replaceWith: _asked, ...refund }: Refund): Refund {
  return refund;
}
