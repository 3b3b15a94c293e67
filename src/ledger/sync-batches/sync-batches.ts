import type { BatchOutcome, ClaimedTry, KnownBatch, OperatorDecision, TakingExecution } from "../../contract/index.ts";
import type { Settled } from "../claims/at-most-once.ts";
import type { UnderWay } from "../claims/answers.ts";
import type { Writer } from "../events/chain.ts";
import type { RowFindings } from "../rows/row-findings.ts";

/** The interface of the ledger for sync batches, in the contract's words: types alone. */

export interface BatchKey {
  connection: string;
  syncBatchId: string;
}

export interface TakeBatchRequest extends BatchKey, ClaimedTry, TakingExecution {
  writer: Writer;
  nowMs: number;
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

/**
 * Claims on sync batches, so that a batch is processed at most once (claims/at-most-once.ts). Each change of a claim is
 * an event of the connection's chain. Every function throws LedgerUnavailableError when the ledger cannot answer, and may
 * then be called again as it was.
 */
export interface SyncBatches {
  take(request: TakeBatchRequest): Promise<{ kind: "taken" } | KnownBatch | UnderWay>;
  /** The execution has ended without a word for the claim, and sends no more. */
  ended(request: BatchKey & ClaimedTry & Pick<TakingExecution, "execution">): Promise<void>;
  settle(request: BatchKey & ClaimedTry & { outcome: BatchOutcome; writer: Writer }): Promise<Settled>;
  readOrBury(request: BatchKey & { generation: number; writer: Writer; nowMs: number }): Promise<KnownBatch | UnderWay>;
  decide(
    request: BatchKey & { generation: number; processed: boolean; word: OperatorDecision; writer: Writer },
  ): Promise<"decided" | KnownBatch>;
  read(key: BatchKey): Promise<KeptBatch | undefined>;
  /**
   * Holds each row against the events of its connection's chain, which is named as the chain is; of another chain there
   * are none.
   */
  verify(chain: { connection: string; businessId: string }): Promise<SyncBatchesReport>;
}
