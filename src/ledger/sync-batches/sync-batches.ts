import type { BatchOutcome, ClaimedTry, KnownBatch, OperatorDecision, TakingExecution } from "../../contract/index.ts";
import type { UnderWay } from "../claim-answers.ts";
import type { Writer } from "../events/chain.ts";
import type { RowFindings } from "../rows/row-findings.ts";

/** The interface of the ledger for sync batches, in the contract's words: types alone. */

export interface BatchKey {
  connection: string;
  syncBatchId: string;
}

export interface TakeBatchRequest extends BatchKey, ClaimedTry, TakingExecution {
  writer: Writer;
}

/** What an operator has decided on it. */
export interface BatchDecision extends OperatorDecision {
  processed: boolean;
}

export interface KeptBatch extends BatchKey {
  generation: number;
  state: "held" | "processed" | "not-processed" | "buried";
  message: string | null;
  decision: BatchDecision | null;
  writer: Writer;
}

export interface SyncBatchesReport extends RowFindings {
  syncBatches: number;
}

/**
 * Claims on sync batches, so that a batch is processed at most once: `take` immediately before it is sent, `settle`
 * with the outcome after (docs/architecture.md, "At most once"). Each change of a claim is an event of the connection's
 * chain. Every function throws LedgerUnavailableError when the ledger cannot answer, and may then be called again as it
 * was.
 */
export interface SyncBatches {
  take(request: TakeBatchRequest): Promise<{ kind: "taken" } | KnownBatch | UnderWay>;
  /** The execution has ended without a word for the claim, and sends no more. */
  ended(request: BatchKey & ClaimedTry & Pick<TakingExecution, "execution">): Promise<void>;
  /** Records what came of it. Idempotent; that it was processed outweighs everything. */
  settle(request: BatchKey & ClaimedTry & { outcome: BatchOutcome; writer: Writer }): Promise<void>;
  /** What became of a try. One that was never taken is buried, so that it cannot leave late. */
  readOrBury(request: BatchKey & { generation: number; writer: Writer }): Promise<KnownBatch | UnderWay>;
  /**
   * An operator's decision, and what holds then. The answer of the service outweighs it, and of a newer try a word that
   * it was not processed says nothing.
   */
  decide(
    request: BatchKey & { generation: number; processed: boolean; word: OperatorDecision; writer: Writer },
  ): Promise<KnownBatch>;
  read(key: BatchKey): Promise<KeptBatch | undefined>;
  /**
   * Holds each row against the events of its connection's chain, which is named as the chain is; of another chain there
   * are none.
   */
  verify(chain: { connection: string; businessId: string }): Promise<SyncBatchesReport>;
}
