import { type Attention, MENDED_BY } from "./attention.ts";
import type { WorkflowState } from "./messages.ts";
import type { SaleOutcome } from "./sale.ts";

/** The outcome as the state tells it: what the `outcome` update answers, and what a caller reads out of the `state` query. */
export function outcomeOfState(state: WorkflowState, nowMs: number): SaleOutcome {
  const { stage, document, creditNote, refund, stockMovements, cancelRequested, numberTaken, nextWait } = state;
  const attention = state.attentions[0] ?? creditNotesAttention(state, nowMs);
  return {
    stage,
    sale: state.workflow === "sale" ? document : null,
    receipt: document?.receipt ?? null,
    ...(state.workflow === "creditNote" ? { creditNote: document } : creditNote && { creditNote }),
    ...(refund && { refund }),
    stockMovements,
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
  const message = `The credit note needs a person: see workflow ${creditNoteWorkflowId ?? ""}.`;
  return { code, message, sinceMs: nowMs, mendedBy: MENDED_BY[code] };
}
