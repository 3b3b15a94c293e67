import { sql } from "kysely";

import type { BegunSync, CompleteSyncRequest, CountedSync, Sync } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { clockMs } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import type { Collection, KeepPageRequest, KeptColumns, KeptEntry, KeptPage, PastChange } from "./collection.ts";
import { historyOf, missingEvent, seenEvent } from "./events.ts";
import { keepPage } from "./keep-page.ts";
import { countBy, markSome, ofOwner, readPage } from "./rows.ts";

/** Looking at every row of an owner takes longer than one operation where there are very many. */
export const WHOLE_WITHIN_MS = 20_000;

/**
 * A collection as the service last showed it, with the history of what changed. Every write may be repeated: each is one
 * transaction, which may run again after a broken connection, and `complete` is several. Every function throws
 * LedgerUnavailableError when the ledger cannot answer, and may then be called again as it was.
 */
export function createSynced<Entry extends { id: string }>(database: Database, collection: Collection<Entry>) {
  const { table, ownerOf } = collection;
  return {
    /** The database's clock (Unix milliseconds): the workers of a fleet have clocks of their own. */
    now: (): Promise<number> => database.transact(clockMs),
    begin: (sync: Sync): Promise<BegunSync> => database.transact((db) => begin(db, table, sync)),
    keepPage: (page: KeepPageRequest<Entry>): Promise<KeptPage> =>
      database.transact((db) => keepPage(db, collection, page)),
    /** What was seen since an instant, of all that is not missing. */
    count: (business: Business, sinceMs: number): Promise<CountedSync> =>
      database.transact((db) => count(db, collection, business, new Date(sinceMs)), WHOLE_WITHIN_MS),
    /**
     * Ends it. Everything up to `knownUntilMs` is known ground from now on, unless it is a recent one that has not
     * settled: that one may have missed a change below what it read.
     */
    async complete(sync: CompleteSyncRequest, writer: Writer): Promise<void> {
      for (const gone of goneBy(collection, sync, writer))
        while (await database.transact((db) => markSome(db, collection, sync, gone), WHOLE_WITHIN_MS));
      await database.transact((db) => end(db, sync));
    },
    /** By id, `most` at a time, those that are missing among them. */
    rows: (business: Business, request: { afterId?: string | undefined; most: number }): Promise<KeptColumns[]> =>
      database.transact((db) => readPage(db, collection, ownerOf(business), request)),
    /** Oldest first. */
    history: (business: Business, id: string): Promise<PastChange[]> =>
      database.transact((db) => historyOf(db, collection, business, id)),
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

type Table = Collection<never>["table"];

/** A run that was reset finds what its predecessor has begun, and what was known then. */
async function begin(db: Queries, collection: Table, { syncId, kind, ...business }: Sync): Promise<BegunSync> {
  const owner = { collection, ...businessColumns(business) };
  const before = sql`syncs where ${ofOwner(owner)} and sync_id <> ${storableText(syncId)}`;
  const { rows } = await sql<{ known_until: Date | null; left_out: Record<string, number> | null }>`
    select (select max(known_until) from ${before}) as known_until,
      (select left_out from ${before} and settled order by completed_at desc limit 1) as left_out`.execute(db);
  const { known_until: knownUntil = null, left_out: leftOut = null } = rows[0] ?? {};
  await db
    .insertInto("syncs")
    .values({ sync_id: storableText(syncId), ...owner, kind: knownUntil === null && kind === "recent" ? "full" : kind })
    .onConflict((conflict) => conflict.column("sync_id").doNothing())
    .execute();
  const begun = await db
    .selectFrom("syncs")
    .select(["kind", "started_at"])
    .where("sync_id", "=", storableText(syncId))
    .executeTakeFirstOrThrow();
  return {
    kind: begun.kind,
    startedAtMs: begun.started_at.getTime(),
    ...(knownUntil !== null && { knownUntilMs: knownUntil.getTime() }),
    ...(leftOut !== null && { leftOut }),
  };
}

async function end(db: Queries, { syncId, kind, settled, knownUntilMs, leftOut }: CompleteSyncRequest): Promise<void> {
  // A window says nothing of what is older.
  const isKnown = knownUntilMs !== undefined && kind !== "window" && (settled || kind === "full");
  await db
    .updateTable("syncs")
    .set({
      completed_at: sql`clock_timestamp()`,
      settled,
      known_until: isKnown ? new Date(knownUntilMs) : null,
      left_out: JSON.stringify(leftOut),
    })
    .where("sync_id", "=", storableText(syncId))
    .where("completed_at", "is", null)
    .execute();
}

async function count<Entry extends { id: string }>(
  db: Queries,
  collection: Collection<Entry>,
  business: Business,
  since: Date,
): Promise<CountedSync> {
  const owner = collection.ownerOf(business);
  const there = sql`missing_since is null and observed_at`;
  const seen = await countBy(db, collection, owner, sql`${there} >= ${since}`, collection.statusSince(since));
  const unseen = await countBy(db, collection, owner, sql`${there} < ${since}`, sql`null`);
  return { ...seen, unseen: unseen.total };
}

const STATUS_GONE = { what: "status", before: "of an earlier list", after: null } as const;

/** What is not listed any more, and what is in no list of a status. */
function goneBy<Entry extends { id: string }>(
  collection: Collection<Entry>,
  { goneBeforeMs, withStatuses }: CompleteSyncRequest,
  writer: Writer,
) {
  if (goneBeforeMs === undefined) return [];
  const before = new Date(goneBeforeMs);
  const gone = {
    which: sql`missing_since is null and observed_at < ${before}`,
    set: sql`missing_since = clock_timestamp()`,
    event: (id: string) => missingEvent(collection, id, writer),
    writer,
  };
  const status = withStatuses ? collection.withoutStatus?.(before) : undefined;
  if (status === undefined) return [gone];
  const event = (id: string) => seenEvent(collection, { id, changes: [STATUS_GONE] }, writer);
  return [gone, { ...status, event, writer }];
}
