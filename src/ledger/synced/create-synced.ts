import type { Database } from "../database.ts";
import type { Business } from "../events/chain.ts";
import { clockMs } from "../statements.ts";
import type { Collection, KeptColumns, KeptEntry } from "./collection.ts";
import { historyOf } from "./events.ts";
import { begin, readPage } from "./rows.ts";

/**
 * What is the same for every collection. Each operation is one transaction, which may run again after a broken
 * connection.
 */
export function createSynced<Entry extends { id: string }, Asked extends Business>(
  database: Database,
  collection: Collection<Entry, Asked>,
) {
  return {
    now: () => database.transact(clockMs),
    begin: (sync: Business & { syncId: string; kind: string }) =>
      database.transact((db) => begin(db, collection, sync)),
    rows: (business: Business, request: { afterId?: string | undefined; most: number }) =>
      database.transact((db) => readPage(db, collection, collection.ownerOf(business), request)),
    history: (business: Business, id: string) => database.transact((db) => historyOf(db, collection, business, id)),
  };
}

export function keptEntry<Entry>(row: KeptColumns): KeptEntry<Entry> {
  return {
    entry: JSON.parse(row.body) as Entry,
    firstSeenAtMs: row.first_seen_at.getTime(),
    changedAtMs: row.changed_at.getTime(),
    missingSinceMs: row.missing_since?.getTime() ?? null,
    writer: { workflowId: row.workflow_id, runId: row.run_id },
  };
}
