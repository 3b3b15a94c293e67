import type { ClosedRun } from "../contract/closed-run.ts";
import type { FoundSale, KeptDocument } from "../contract/find-sale.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { outcomeOfState } from "../contract/outcome-of-state.ts";
import type { SaleOutcome } from "../contract/sale.ts";
import { SETTLED_STAGES } from "../contract/stages.ts";
import { areSettled } from "../contract/stock-movement.ts";
import type { PendingCall } from "./pending-calls.ts";

/** Beside an answer of the ledger: Temporal no longer has the workflow, so no message reaches it. */
export interface FromLedger extends Pick<KeptDocument, "keptAtMs" | "keptBy" | "closed"> {
  source: "ledger";
}

/** Beside an answer of a workflow that Temporal knows. */
export interface FromWorkflow {
  source: "workflow";
  /** Set where the workflow ended without an outcome: the rest is what was true then. */
  closed?: ClosedRun;
  /** Calls to the API that it waits for, where one is retried, goes on for seconds, or waits for a worker. */
  pendingCalls?: PendingCall[];
}

export type LedgerState = WorkflowState & FromLedger & { creditNoteState?: WorkflowState & FromLedger };

/** What is known of a sale, and where from. */
export type SaleState = (WorkflowState & FromWorkflow) | LedgerState;

/** The outcome of a sale, and where it is known from. */
export type KnownOutcome = SaleOutcome & (Omit<FromWorkflow, "pendingCalls"> | FromLedger);

export function ledgerState(found: FoundSale): LedgerState {
  const { creditNote: note } = found;
  const state = stateOf("sale", found);
  if (!note) return state;
  const [attention] = note.attentions;
  // After the refund window the sale's own workflow was not asked. A credit note that was given up refunds nothing.
  const refund = found.refund ?? (note.stage === "cancelled" ? undefined : note.refund);
  return {
    ...state,
    // A sale that had closed before it was refunded did not learn of it.
    ...(state.stage === "completed" && note.stage === "credited" && { stage: "credited" }),
    ...(note.document && { creditNote: note.document }),
    ...(refund && { refund }),
    creditNoteWorkflowId: note.keptBy.workflowId,
    ...(attention && { creditNoteAttention: attention.code }),
    creditNoteState: stateOf("creditNote", note),
  };
}

export function ledgerOutcome(found: FoundSale): KnownOutcome {
  const { keptAtMs, keptBy } = found;
  const closed = found.closed && { closed: found.closed };
  return { ...outcomeOfState(ledgerState(found), keptAtMs), source: "ledger", keptAtMs, keptBy, ...closed };
}

function stateOf(workflow: WorkflowState["workflow"], kept: KeptDocument): WorkflowState & FromLedger {
  const { stage, attentions, document, movements, decisions, refund, fingerprint, numberTaken, inAll } = kept;
  const isDone = SETTLED_STAGES.includes(stage) && attentions.length === 0 && areSettled(movements);
  const again = workflow === "sale" ? "the same sale is started again" : "the same refund is asked for again";
  return {
    workflow,
    stage,
    waitingFor: isDone ? "nothing" : `nothing: no workflow carries it on until ${again}`,
    attentions,
    document,
    ...(refund && { refund }),
    stockMovements: movements,
    decisions,
    ...(inAll && { inAll }),
    callbacksReceived: 0,
    ...(fingerprint !== undefined && { fingerprint }),
    numberTaken,
    nextWait: 0,
    source: "ledger",
    keptAtMs: kept.keptAtMs,
    keptBy: kept.keptBy,
    ...(kept.closed && { closed: kept.closed }),
  };
}
