import type { BatchOutcome, DecidedProcessed, ProcessedBatch } from "../../contract/index.ts";
import {
  type AtMostOnceClaim,
  type AtMostOnceTable,
  claimIn,
  decide,
  ended,
  readOrBury,
  readRow,
  settle,
  take,
  verifyClaims,
} from "../claims/at-most-once.ts";
import type { Database } from "../database.ts";
import { accountingChain, connectionOfChain } from "../events/chain.ts";
import type { BatchDecision, BatchKey, KeptBatch, SyncBatches } from "./sync-batches.ts";

type Answer = ProcessedBatch | DecidedProcessed;

const SYNC_BATCHES: AtMostOnceTable<Answer> = {
  table: "sync_batches",
  kind: "batch-",
  noun: "sync batch",
  idColumn: "sync_batch_id",
  columnsOfCall: [],
  done: "processed",
  notDone: "not-processed",
  lateDoneEnds: true,
  said: (word) => ({ kind: "said-processed", word }),
};

function batchClaim({ connection, syncBatchId }: BatchKey): AtMostOnceClaim<Answer> {
  return claimIn(SYNC_BATCHES, { owner: { connection }, chain: accountingChain(connection), id: syncBatchId });
}

export function createSyncBatches(database: Database): SyncBatches {
  return {
    take: (request) => take(database, batchClaim(request), request, { call: {} }),
    ended: (request) => ended(database, batchClaim(request), request),
    settle: (request) => settle(database, batchClaim(request), request),
    readOrBury: (request) => readOrBury(database, batchClaim(request), request),
    decide({ processed, word, ...request }) {
      const decision = { ...word, processed };
      return decide(database, batchClaim(request), { ...request, isDone: processed, decision, call: {} });
    },
    async verify(chain) {
      const { connection, businessId: business_id } = chain;
      const owner = connectionOfChain({ connection, business_id });
      if (owner === undefined) return { syncBatches: 0, findings: [], moreFindings: 0 };
      const of = { connection, business_id };
      const { rows: syncBatches, ...found } = await verifyClaims(database, of, SYNC_BATCHES, { connection: owner });
      return { syncBatches, ...found };
    },
    read: (key) => database.query(async (db) => keptOf(key, await readRow(db, batchClaim(key)))),
  };
}

function keptOf(key: BatchKey, row: Awaited<ReturnType<typeof readRow>>): KeptBatch | undefined {
  if (row === undefined) return undefined;
  const { generation, state, workflow_id: workflowId, run_id: runId } = row;
  const decision = row.decision as BatchDecision | null;
  const message = (row.outcome as BatchOutcome | null)?.message ?? decision?.note ?? null;
  return { ...key, generation, state, message, decision, writer: { workflowId, runId } };
}
