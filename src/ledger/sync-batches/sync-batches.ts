import { sql } from "kysely";

import type { BatchDecision, BatchOutcome, DecidedProcessed, ProcessedBatch } from "../../contract/index.ts";
import {
  type AtMostOnceClaim,
  type AtMostOnceTable,
  claimIn,
  decide,
  ended,
  type EndedTry,
  type LastTry,
  readOrClose,
  readRow,
  settle,
  type SettledTry,
  take,
  type TakeClaim,
} from "../claims/at-most-once.ts";
import type { Database, Queries } from "../database.ts";
import { accountingChain, type Writer } from "../events/chain.ts";

export interface BatchKey {
  connection: string;
  syncBatchId: string;
}

export interface KeptBatch extends BatchKey {
  generation: number;
  /** `held`, `processed`, `not-processed` or `closed`. */
  state: string;
  message: string | null;
  decision: BatchDecision | null;
  writer: Writer;
}

type Answer = ProcessedBatch | DecidedProcessed;

export const SYNC_BATCHES: AtMostOnceTable<Answer> = {
  table: "sync_batches",
  kind: "batch-",
  noun: "sync batch",
  idColumn: "sync_batch_id",
  columnsOfCall: [],
  done: "processed",
  notDone: "not-processed",
  lateDoneEnds: true,
  decided: (decision) => ({ kind: "decided-processed", decision }),
};

function batchClaim({ connection, syncBatchId }: BatchKey): AtMostOnceClaim<Answer> {
  return claimIn(SYNC_BATCHES, { owner: { connection }, chain: accountingChain(connection), id: syncBatchId });
}

export type SyncBatches = ReturnType<typeof createSyncBatches>;

/** Sync batches, each processed at most once (claims/at-most-once.ts). Their events are in the connection's chain. */
export function createSyncBatches(database: Database) {
  return {
    take: (request: BatchKey & TakeClaim) => take(database, batchClaim(request), request, { call: {} }),
    ended: (request: BatchKey & EndedTry) => ended(database, batchClaim(request), request),
    settle: (request: BatchKey & SettledTry<BatchOutcome>) => settle(database, batchClaim(request), request),
    readOrClose: (request: BatchKey & LastTry) => readOrClose(database, batchClaim(request), request),
    decide: (request: BatchKey & { generation: number; decision: BatchDecision; writer: Writer }) =>
      decide(database, batchClaim(request), { ...request, isDone: request.decision.processed, call: {} }),
    /** Those whose run had not ended: a request may be out, or is to be sent again. */
    unfinished: () => database.query(unfinished),
    read: (key: BatchKey) => database.query(async (db) => keptOf(key, await readRow(db, batchClaim(key)))),
  };
}

/** A batch that the service has refused is not among them: its run waited for a person, or was cancelled. */
async function unfinished(db: Queries): Promise<BatchKey[]> {
  const { rows } = await sql<BatchKey>`
    select connection, sync_batch_id as "syncBatchId" from sync_batches
    where state in ('held', 'closed') or (state = 'not-processed' and outcome ? 'putOff') order by 1, 2`.execute(db);
  return rows;
}

function keptOf(key: BatchKey, row: Awaited<ReturnType<typeof readRow>>): KeptBatch | undefined {
  if (row === undefined) return undefined;
  const { generation, state, workflow_id: workflowId, run_id: runId } = row;
  const decision = row.decision as BatchDecision | null;
  const message = (row.outcome as BatchOutcome | null)?.message ?? decision?.note ?? null;
  return { ...key, generation, state, message, decision, writer: { workflowId, runId } };
}
