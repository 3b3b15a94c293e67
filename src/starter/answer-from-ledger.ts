import { attentionOfCreditNote } from "../contract/attention.ts";
import type { ClosedRun } from "../contract/closed-run.ts";
import { isCorrectionLeft } from "../contract/correction.ts";
import type { FoundSale, KeptDocument } from "../contract/find-sale.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { outcomeOfState } from "../contract/outcome-of-state.ts";
import type { SaleOutcome } from "../contract/sale.ts";
import { SETTLED_STAGES } from "../contract/stages.ts";
import { areSettled } from "../contract/stock-movement.ts";
import type { PendingCall } from "./pending-calls.ts";

/** Beside an answer of the ledger: Temporal no longer has the workflow, so no message reaches it. */
export interface FromLedger extends Pick<KeptDocument, "keptAtMs" | "keptBy" | "closed" | "replaces"> {
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

export type LedgerState = WorkflowState & FromLedger;

/** What is known of a sale, and where from. */
export type SaleState = (WorkflowState & FromWorkflow) | LedgerState;

/** The outcome of a sale, and where it is known from. */
export type KnownOutcome = SaleOutcome & (Omit<FromWorkflow, "pendingCalls"> | FromLedger);

export function ledgerState(found: FoundSale): LedgerState {
  const { creditNote: note, document, fingerprint, correction, replaces } = found;
  const { numberTaken, inAll, keptAtMs, keptBy, closed } = found;
  const both = note ? [found, note] : [found];
  const ofNote = note?.attentions.map((one) => attentionOfCreditNote(note.number, one)) ?? [];
  const attentions = [...found.attentions, ...ofNote];
  const { movements: stockMovements } = found;
  // The credit note may have been written down as its run ended.
  const stage = note?.stage === "credited" ? note.stage : found.stage;
  // A credit note that was given up refunds nothing.
  const refund = found.refund ?? (note?.stage === "cancelled" ? undefined : note?.refund);
  const isSettled = SETTLED_STAGES.includes(stage) && areSettled(stockMovements) && !isCorrectionLeft(correction);
  const isDone = isSettled && attentions.length === 0;
  return {
    stage,
    waitingFor: isDone ? "nothing" : "nothing: no workflow carries it on until the same sale is started again",
    attentions,
    document,
    ...(note?.document && { creditNote: note.document }),
    ...(refund && { refund }),
    ...(correction && { correction }),
    ...(replaces !== undefined && { replaces }),
    stockMovements,
    decisions: both.flatMap((one) => one.decisions).toSorted((one, other) => one.atMs - other.atMs),
    ...(inAll && { inAll }),
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

export function ledgerOutcome(found: FoundSale): KnownOutcome {
  const { keptAtMs, keptBy, closed } = found;
  return { ...outcomeOfState(ledgerState(found)), source: "ledger", keptAtMs, keptBy, ...(closed && { closed }) };
}
