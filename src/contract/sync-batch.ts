import type { AccountingProfile, AccountingTarget } from "./accounting-connection.ts";
import type { Deferred, PersonsWord, Refusal } from "./calls.ts";

/** Input of the `processSyncBatch` workflow. */
export interface ProcessSyncBatchInput {
  connection?: string;
  syncBatchId: string;
}

export interface PreparedSyncBatch {
  profile: AccountingProfile;
  syncBatchId: string;
}

/** Update `resolveBatch`: a person's word on a batch of which nobody knows whether it was processed. */
export interface ResolveBatchRequest {
  processed: boolean;
  note: string;
  by?: string;
}

/** One try of a batch, as its claim knows it. */
export interface BatchTry {
  /** Counts from 1 the tries that were allowed to leave. */
  generation: number;
  /** Names this try, so that a claim whose acknowledgement was lost is known again. */
  token: string;
}

export interface ProcessBatchRequest extends AccountingTarget, BatchTry {
  syncBatchId: string;
}

/** The outcome is known, but could not be written into its claim. */
interface Unsettled {
  unsettled?: true;
}

export interface ProcessedBatch {
  kind: "processed";
  /** The service's own words. */
  message: string;
}

/** A person has said, in this run or in an earlier one, that it was processed. */
export interface SaidProcessed {
  kind: "said-processed";
  word: PersonsWord;
}

export interface UnknownBatch {
  kind: "unknown";
  message: string;
  evidence: Record<string, unknown>;
}

/** That try, and all before it, are known not to have been processed: the next one may be sent. */
export interface SupersededBatchTry {
  kind: "superseded";
  generation: number;
}

/** What the ledger says of a try whose activity ended without an answer. */
export type ReadBatchResult = ProcessedBatch | SaidProcessed | SupersededBatchTry | UnknownBatch;

export type ProcessBatchResult =
  | (ProcessedBatch & Unsettled)
  | SaidProcessed
  | SupersededBatchTry
  | UnknownBatch
  /** `sameTry`: the claim may be held for this try, which has not left, so it must be asked for again. */
  | (Deferred & Unsettled & { sameTry?: true })
  /** Certainly not processed, and the service says why. */
  | ({ kind: "not-processed"; refusal: Refusal } & Unsettled);

export interface BatchReference extends AccountingTarget {
  syncBatchId: string;
  generation: number;
}

export interface DecideBatchRequest extends BatchReference {
  processed: boolean;
  word: PersonsWord;
}

export interface SettleBatchRequest extends AccountingTarget, BatchTry {
  syncBatchId: string;
  outcome: { kind: "processed" | "not-processed"; message: string };
}

export interface BatchProgress {
  syncBatchId: string;
  /** `waiting`: not sent; `parked`: a person is needed; `processed`: done. */
  standing: "waiting" | "parked" | "processed";
  /** The service's own words. */
  message?: string;
}

/** Result of the `processSyncBatch` workflow. */
export interface SyncBatchOutcome {
  syncBatchId: string;
  /** `service`: as the service answered; `person`: as a person has said. */
  saidBy: "service" | "person";
  message: string;
}
