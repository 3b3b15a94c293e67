import type { Writer } from "../events/chain.ts";
import type { RowFindings } from "../rows/row-findings.ts";

/** What the room says about sync batches: types alone. */

export interface BatchKey {
  connection: string;
  syncBatchId: string;
}

/** One try of a batch. */
export interface BatchTry {
  /** Counts from 1 the tries that were allowed to leave. */
  generation: number;
  /** Names this try, so that a take whose acknowledgement was lost is known again. */
  token: string;
}

/** What a person has said of it. */
export interface BatchDecision {
  processed: boolean;
  note: string;
  by?: string | undefined;
  atMs: number;
}

/** What is known of a batch that is not to be sent. */
export type KnownBatch =
  | { kind: "processed"; message: string; decision?: BatchDecision }
  /** It was taken to be sent, and no outcome was written down. */
  | { kind: "held"; takenAtMs: number; holder: string }
  /** That generation, and all before it, are known not to have been processed: the next one is to be used. */
  | { kind: "behind"; generation: number };

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
 * chain. Every function throws LedgerUnavailableError when nothing can be said, and may then be called again as it was.
 */
export interface SyncBatches {
  take(request: BatchKey & BatchTry & { writer: Writer }): Promise<{ kind: "taken" } | KnownBatch>;
  /** Records what came of it. Idempotent; that it was processed outweighs everything. */
  settle(request: BatchKey & BatchTry & { outcome: BatchOutcome; writer: Writer }): Promise<void>;
  /** What became of a try. One that was never taken is buried, so that it cannot leave late. */
  readOrBury(request: BatchKey & { generation: number; writer: Writer }): Promise<KnownBatch>;
  /**
   * A person's word. What the service has said outweighs it, and of a newer try a word that it was not processed says
   * nothing.
   */
  decide(
    request: BatchKey & { generation: number; decision: BatchDecision; writer: Writer },
  ): Promise<Exclude<KnownBatch, { kind: "held" }>>;
  read(key: BatchKey): Promise<KeptBatch | undefined>;
  /**
   * Holds each row against the events of its connection's chain, which is named as the chain is; of another chain there
   * are none.
   */
  verify(chain: { connection: string; businessId: string }): Promise<SyncBatchesReport>;
}

export type BatchOutcome = { kind: "processed"; message: string } | { kind: "not-processed"; message: string };
