import { attentionOfCreditNote } from "../contract/attention.ts";
import type { ClosedRun } from "../contract/closed-run.ts";
import type { FoundSale, KeptDocument } from "../contract/records.ts";
import { outcomeOfState, type WorkflowState } from "../contract/messages.ts";
import type { SaleOutcome } from "../contract/sale.ts";
import type { PendingCall } from "./pending-calls.ts";

/** Beside an answer of the ledger: no workflow of the sale is open, so no message reaches it. */
export interface FromLedger extends Pick<KeptDocument, "keptAtMs" | "keptBy" | "closed" | "replaces"> {
  source: "ledger";
}

/** Beside an answer of a workflow that is open, or that ended before the ledger knew of it. */
export interface FromWorkflow {
  source: "workflow";
  /** Set where the workflow ended without an outcome: the rest is what was true then. */
  closed?: ClosedRun;
  /** Calls to the API that it waits for, where one is retried, goes on for seconds, or waits for a worker. */
  pendingCalls?: PendingCall[];
}

export type LedgerState = WorkflowState & FromLedger;

/** What is known of a sale, and where from. */
export type SaleState = (WorkflowState & FromWorkflow) | LedgerState;

/** The outcome of a sale, and where it is known from. */
export type KnownOutcome = SaleOutcome & (Omit<FromWorkflow, "pendingCalls"> | FromLedger);

export function ledgerState(found: FoundSale): LedgerState {
  const { creditNote: note, document, fingerprint, correction, replaces } = found;
  const { numberTaken, inAll, keptAtMs, keptBy, closed, isThrough, cancelRequested } = found;
  const both = note ? [found, note] : [found];
  const ofNote = note?.attentions.map((one) => attentionOfCreditNote(note.number, one)) ?? [];
  const attentions = [...found.attentions, ...ofNote];
  const { movements: stockMovements } = found;
  // The credit note may have been written down as its run ended.
  const stage = note?.stage === "credited" ? note.stage : found.stage;
  // A credit note that was given up refunds nothing.
  const refund = found.refund ?? (note?.stage === "cancelled" ? undefined : note?.refund);
  return {
    stage,
    waitingFor: isThrough ? "nothing" : "nothing: no workflow carries it on until the same sale is started again",
    attentions,
    document,
    ...(note?.document && { creditNote: note.document }),
    ...(refund && { refund }),
    ...(correction && { correction }),
    ...(replaces !== undefined && { replaces }),
    stockMovements,
    decisions: both.flatMap((one) => one.decisions).toSorted((one, other) => one.atMs - other.atMs),
    ...(inAll && { inAll }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    callbacksReceived: 0,
    ...(fingerprint !== undefined && { fingerprint }),
    numberTaken,
    nextWait: 0,
    source: "ledger",
    keptAtMs,
    keptBy,
    ...(closed && { closed }),
  };
}

/** With where it is known from. */
export function outcomeOf(state: SaleState): KnownOutcome {
  const { closed } = state;
  const from =
    state.source === "ledger"
      ? { source: state.source, keptAtMs: state.keptAtMs, keptBy: state.keptBy }
      : { source: state.source };
  return { ...outcomeOfState(state), ...from, ...(closed && { closed }) };
}
