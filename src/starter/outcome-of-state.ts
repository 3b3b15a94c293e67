import { type Attention, MENDED_BY, type SaleOutcome, type WorkflowState } from "../contract/index.ts";

/** The outcome as the state tells it: the same that the `outcome` update would say now. */
export function outcomeOfState(state: WorkflowState): SaleOutcome {
  const { stage, document, creditNote, stockMovements, cancelRequested, numberTaken, nextWait } = state;
  const attention = state.attentions[0] ?? creditNotesAttention(state);
  const shown = state.workflow === "sale" ? creditNote : document;
  return {
    stage,
    sale: state.workflow === "sale" ? document : null,
    receipt: document?.receipt ?? null,
    ...(shown && { creditNote: shown }),
    stockMovements,
    ...(attention && { attention }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    numberTaken,
    nextWait,
  };
}

function creditNotesAttention({
  creditNoteAttention: code,
  creditNoteWorkflowId,
}: WorkflowState): Attention | undefined {
  if (!code) return undefined;
  const message = `The credit note needs a person: see workflow ${creditNoteWorkflowId ?? ""}.`;
  return { code, message, sinceMs: 0, mendedBy: MENDED_BY[code] };
}
