import {
  type FoundSale,
  type KeptDocument,
  outcomeOfState,
  type SaleOutcome,
  SETTLED_STAGES,
  type WorkflowState,
} from "../contract/index.ts";

/** Beside an answer of the ledger: Temporal no longer has the workflow, so no message reaches it. */
export interface FromLedger extends Pick<KeptDocument, "keptAtMs" | "keptBy"> {
  source: "ledger";
}

/** `workflow`: Temporal knows the sale, and it answered for itself. */
export type FromWorkflow = { source: "workflow" };

export type LedgerState = WorkflowState & FromLedger & { creditNoteState?: WorkflowState & FromLedger };

/** What is known of a sale, and where from. */
export type SaleState = (WorkflowState & FromWorkflow) | LedgerState;

/** The outcome of a sale, and where it is known from. */
export type KnownOutcome = SaleOutcome & (FromWorkflow | FromLedger);

export function ledgerState(found: FoundSale): LedgerState {
  const { creditNote: note } = found;
  const refund = found.refund ?? note?.refund;
  const state = { ...stateOf("sale", found), ...(refund && { refund }) };
  if (!note) return state;
  const [attention] = note.attentions;
  return {
    ...state,
    ...(note.document && { creditNote: note.document }),
    creditNoteWorkflowId: note.keptBy.workflowId,
    ...(attention && { creditNoteAttention: attention.code }),
    creditNoteState: stateOf("creditNote", note),
  };
}

export function ledgerOutcome(found: FoundSale): KnownOutcome {
  const { keptAtMs, keptBy } = found;
  return { ...outcomeOfState(ledgerState(found), keptAtMs), source: "ledger", keptAtMs, keptBy };
}

function stateOf(workflow: WorkflowState["workflow"], kept: KeptDocument): WorkflowState & FromLedger {
  const { stage, attentions, document, movements, decisions, fingerprint, numberTaken, keptAtMs, keptBy } = kept;
  const isDone =
    SETTLED_STAGES.includes(stage) &&
    attentions.length === 0 &&
    movements.every(({ state }) => state === "applied" || state === "dropped");
  const again = workflow === "sale" ? "the same sale is started again" : "the same refund is asked for again";
  return {
    workflow,
    stage,
    waitingFor: isDone ? "nothing" : `nothing: no workflow carries it on until ${again}`,
    attentions,
    document,
    ...(kept.refund && { refund: kept.refund }),
    stockMovements: movements,
    decisions,
    callbacksReceived: 0,
    ...(fingerprint !== undefined && { fingerprint }),
    numberTaken,
    nextWait: 0,
    source: "ledger",
    keptAtMs,
    keptBy,
  };
}
