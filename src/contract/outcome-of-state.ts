import { type Attention, holdsUpDocument, RESOLVED_BY } from "./attention.ts";
import type { WorkflowState } from "./messages.ts";
import type { SaleOutcome } from "./sale.ts";

/**
 * The outcome as the state tells it: what the `outcome` update answers, and what a caller reads out of the `state`
 * query.
 */
export function outcomeOfState(state: WorkflowState, nowMs: number): SaleOutcome {
  const { stage, document, creditNote, refund, stockMovements, cancelRequested, numberTaken, nextWait } = state;
  const { attentions, inAll } = state;
  const attention =
    attentions.find((one) => holdsUpDocument(one, stockMovements)) ??
    creditNotesAttention(state, nowMs) ??
    attentions[0];
  return {
    stage,
    sale: state.workflow === "sale" ? document : null,
    receipt: document?.receipt ?? null,
    ...(state.workflow === "creditNote" ? { creditNote: document } : creditNote && { creditNote }),
    ...(refund && { refund }),
    stockMovements,
    ...(inAll?.stockMovements && { inAll: { stockMovements: inAll.stockMovements } }),
    ...(attention && { attention }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    numberTaken,
    nextWait,
  };
}

/** A sale that waits for its credit note is parked where that is. */
function creditNotesAttention(
  { creditNoteAttention: code, creditNoteWorkflowId }: WorkflowState,
  nowMs: number,
): Attention | undefined {
  if (!code) return undefined;
  const message = `The credit note needs an operator: see workflow ${creditNoteWorkflowId ?? ""}.`;
  return { code, message, sinceMs: nowMs, resolvedBy: RESOLVED_BY[code] };
}
