import type { BatchOutcome, KnownBatch, OperatorDecision } from "../../contract/index.ts";
import type { ClaimsOf, TakeClaim } from "../claims/answers.ts";
import type { Writer } from "../events/chain.ts";
import type { RowFindings } from "../events/verify-rows.ts";

/** The interface of the ledger for sync batches, in the contract's words: types alone. */

export interface BatchKey {
  connection: string;
  syncBatchId: string;
}

export type TakeBatchRequest = BatchKey & TakeClaim;

export interface DecideBatch extends BatchKey {
  generation: number;
  processed: boolean;
  word: OperatorDecision;
  writer: Writer;
}

/** What an operator has decided on it. */
export interface BatchDecision extends OperatorDecision {
  processed: boolean;
}

export interface KeptBatch extends BatchKey {
  generation: number;
  /** `held`, `processed`, `not-processed` or `buried`. */
  state: string;
  message: string | null;
  decision: BatchDecision | null;
  writer: Writer;
}

export interface SyncBatchesReport extends RowFindings {
  syncBatches: number;
}

/** Sync batches, each processed at most once. Each change of a claim is an event of the connection's chain. */
export interface SyncBatches extends ClaimsOf<BatchKey, TakeBatchRequest, BatchOutcome, DecideBatch, KnownBatch> {
  read(key: BatchKey): Promise<KeptBatch | undefined>;
  /**
   * Holds each row against the events of its connection's chain, which is named as the chain is; of another chain there
   * are none.
   */
  verify(chain: { connection: string; businessId: string }): Promise<SyncBatchesReport>;
}
