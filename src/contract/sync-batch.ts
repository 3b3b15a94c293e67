import type { AccountingProfile, AccountingTarget } from "./accounting-connection.ts";
import type { OperatorDecision } from "./calls.ts";
import type { ClaimedTry, NotDone, SupersededTry, UnknownOutcome, Unsettled } from "./claimed-calls.ts";

/** Input of the `processSyncBatch` workflow. */
export interface ProcessSyncBatchInput {
  connection?: string;
  syncBatchId: string;
}

export interface PreparedSyncBatch {
  profile: AccountingProfile;
  syncBatchId: string;
}

export interface ProcessBatchRequest extends AccountingTarget, ClaimedTry {
  syncBatchId: string;
}

export interface ProcessedBatch {
  kind: "processed";
  /** The service's own words. */
  message: string;
}

/** An operator has decided, in this run or in an earlier one, that it was processed. */
export interface DecidedProcessed {
  kind: "said-processed";
  word: OperatorDecision;
}

/** What the ledger says of a batch that was asked for before. */
export type KnownBatch = ProcessedBatch | DecidedProcessed | SupersededTry | UnknownOutcome;

export type ProcessBatchResult =
  | (ProcessedBatch & Unsettled)
  | DecidedProcessed
  | SupersededTry
  | UnknownOutcome
  | NotDone<"not-processed">;

export interface BatchReference extends AccountingTarget {
  syncBatchId: string;
  generation: number;
}

export interface DecideBatchRequest extends BatchReference {
  processed: boolean;
  word: OperatorDecision;
}

export interface SettleBatchRequest extends AccountingTarget, ClaimedTry {
  syncBatchId: string;
  outcome: BatchOutcome;
}

/** What the service's answer says of a try. */
export interface BatchOutcome {
  kind: "processed" | "not-processed";
  message: string;
}

export interface BatchProgress {
  syncBatchId: string;
  /** `waiting`: not sent; `parked`: an operator is needed; `processed`: done. */
  standing: "waiting" | "parked" | "processed";
  /** The service's own words. */
  message?: string;
}

/** Result of the `processSyncBatch` workflow. */
export interface SyncBatchOutcome {
  syncBatchId: string;
  /** `service`: as the service answered; `person`: as an operator has decided. */
  saidBy: "service" | "person";
  message: string;
}
