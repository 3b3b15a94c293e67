import { sql } from "kysely";

import type { Database } from "../database.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import { connectionOfChain } from "../events/chain.ts";
import { SOME_VALUE } from "../rows/row-findings.ts";
import { type Chain, type ExpectedRow, expectedByAllEvents, type SubjectEvent } from "../rows/expected-rows.ts";
import { type KeptRow, type ProvenRows, verifyRows } from "../rows/verify-rows.ts";
import { storableText } from "../storable-text.ts";
import { BATCH_KINDS, type BatchEvent, subjectOf } from "./events.ts";
import type { SyncBatchesReport } from "./sync-batches.ts";

/**
 * Holds each sync batch of an accounting connection's chain against the events that tell of it, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifySyncBatches(database: Database, chain: Chain): Promise<SyncBatchesReport> {
  const connection = connectionOfChain(chain);
  if (connection === undefined) return { syncBatches: 0, findings: [], moreFindings: 0 };
  const { rows: syncBatches, ...found } = await verifyRows(database, chain, syncBatchesOf(connection));
  return { syncBatches, ...found };
}

interface KeptBatch extends KeptRow {
  row: KeptRow["row"] & { sync_batch_id: string };
}

function syncBatchesOf(connection: string): ProvenRows<KeptBatch> {
  return {
    table: "sync_batches",
    kinds: BATCH_KINDS,
    most: 200,
    async read(db, _chain, after, most) {
      const rows = await db
        .selectFrom("sync_batches")
        .selectAll()
        .where("connection", "=", connection)
        .where("sync_batch_id", ">", after?.row.sync_batch_id ?? "")
        .orderBy("sync_batch_id")
        .limit(most)
        .execute();
      return rows.map((row) => ({ subject: subjectOf(row.sync_batch_id), row }));
    },
    expected: (db, chain, subjects) =>
      expectedByAllEvents(db, chain, { kinds: BATCH_KINDS, subjects, after: columnsAfter, expectedBy: writtenBy }),
    isRowOfSubject: () => sql<boolean>`
      kept.connection = ${connection} and kept.sync_batch_id = substr(subjects.subject, ${subjectOf("").length + 1})`,
  };
}

interface Columns {
  generation: number;
  token: string | null;
  execution: string | null;
  state: string;
  message: string | null;
  settled_at: typeof SOME_VALUE | null;
  decision: string | null;
}

/** As the claim writes them (claim.ts), by each event in turn. */
function columnsAfter(before: Columns | undefined, { kind, content }: SubjectEvent): Columns {
  const { syncBatchId: _id, ...detail } = JSON.parse(content) as { syncBatchId: string };
  const event = { what: kind, detail } as unknown as BatchEvent;
  switch (event.what) {
    case "batch-taken": {
      const { generation, token, execution } = event.detail;
      return { ...NOTHING_SETTLED, generation, token: storableText(token), execution, state: "held" };
    }
    case "batch-buried":
      return { ...NOTHING_SETTLED, generation: event.detail.generation, token: null, execution: null, state: "buried" };
    case "batch-processed":
    case "batch-not-processed": {
      if (before === undefined) throw new Error("no event tells that it was taken");
      const state = event.what === "batch-processed" ? "processed" : "not-processed";
      return { ...before, state, message: storableText(event.detail.message), settled_at: SOME_VALUE };
    }
    case "batch-decided": {
      const { generation, ...decision } = event.detail;
      const state = decision.processed ? "processed" : "not-processed";
      const settled: Pick<Columns, "message" | "settled_at" | "decision"> = {
        message: storableText(decision.note),
        settled_at: SOME_VALUE,
        decision: canonicalJson(decision),
      };
      const { token = null, execution = null } = before ?? {};
      return { token, execution, generation, state, ...settled };
    }
  }
}

const NOTHING_SETTLED = { message: null, settled_at: null, decision: null };

function writtenBy(columns: Columns, { writer }: SubjectEvent): ExpectedRow {
  return { columns: { ...columns, ...writer } };
}
