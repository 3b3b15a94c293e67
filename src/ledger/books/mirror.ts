import { type RawBuilder, sql } from "kysely";

import type {
  BegunSync,
  BillPaymentStatus,
  CompleteSyncRequest,
  CountedSync,
  Sync,
  SyncKind,
} from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import {
  appendEvents,
  type Business,
  businessColumns,
  canonicalJson,
  type Chain,
  type Writer,
  writerColumns,
} from "../events/chain.ts";
import { findingsOf, type ProvenRows, type Row, SOME_VALUE } from "../events/verify-rows.ts";
import { clockMs, hasValues } from "../statements.ts";
import { storableJson, storableText } from "../storable-text.ts";

/**
 * What is read page by page from a service, as it showed it last; the columns of the entries are computed by the
 * database out of `body`. Each row's last event has all of it (docs/decisions/0011).
 */
export interface Mirror {
  table: "purchases" | "bill_payments";
  /** A subject is this and the id. */
  noun: "purchase" | "bill payment";
  /** The chain whose events tell of the rows: it names their owner, too. */
  chainOf: (business: Business) => Business;
  /** The column of the date by which entries are listed; a text of the service's. */
  date: "invoice_date" | "payment_date";
  /** `sync_status` is no field of an entry: it is that of the list in which it was seen, at times of its own. */
  status: "status" | "sync_status";
}

export interface MirrorRow {
  id: string;
  /** What the service answered last, unknown fields among it. */
  body: unknown;
  sync_status?: string | null;
  changed_at: Date;
  observed_at: Date;
  missing_since: Date | null;
  event_number: string;
  workflow_id: string;
  run_id: string;
}

export interface KeptEntry<Entry> {
  entry: Entry;
  /** Of a bill payment, as learned by asking for those of each status; null: in no such list. */
  syncStatus: BillPaymentStatus | null;
  missingSinceMs: number | null;
  writer: Writer;
}

/** What an event says of an entry: all of it. */
export interface State {
  entry: unknown;
  /** Of the list in which it was seen; of no use where the status is a field of the entry. */
  status: string | null;
  isMissing: boolean;
}

export type Change = "first-seen" | "status-learned" | "status" | "content" | "missing" | "returned";

export type KeepPageRequest<Entry> = Business & {
  /** Of the list that the page is of; absent for that of all. */
  status?: string | undefined;
  /** In the order of the page. */
  entries: readonly Entry[];
  /** The ids of rows of the page that are not of their form: what is kept of them stands, and they have not vanished. */
  leftOut?: readonly string[] | undefined;
  /** By the database's clock: what was asked for earlier never replaces what was asked for later. */
  askedAtMs: number;
  /** See {@link KeptPage.known}. */
  knownUntilMs?: number | undefined;
  writer: Writer;
};

export interface KeptPage {
  rows: number;
  added: number;
  changed: number;
  /** Each row was in the ledger as the page shows it, unchanged since `knownUntilMs`. */
  known: boolean;
  /** How many of those that were left out are in the ledger, from a time when they were of their form; absent for none. */
  leftOutKnown?: number;
}

/** Looking at every row of an owner takes longer than one operation where there are very many. */
export const WHOLE_WITHIN_MS = 20_000;

/**
 * Every write may be repeated: each is one transaction, which may run again after a broken connection, and `complete` is
 * several. Every function throws LedgerUnavailableError when the ledger cannot answer, and may then be called again.
 */
export function createMirror<Entry extends { id: string }>(database: Database, mirror: Mirror) {
  const { chainOf } = mirror;
  return {
    /** The database's clock (Unix milliseconds): the workers of a fleet have clocks of their own. */
    now: (): Promise<number> => database.transact(clockMs),
    begin: (sync: Sync): Promise<BegunSync> => database.transact((db) => begin(db, chainOf(sync), sync)),
    keepPage: (page: KeepPageRequest<Entry>): Promise<KeptPage> =>
      database.transact((db) => keepPage(db, mirror, page)),
    /** What was seen since an instant, of all that is not missing. */
    count: (business: Business, sinceMs: number): Promise<CountedSync> =>
      database.transact((db) => countSince(db, mirror, business, new Date(sinceMs)), WHOLE_WITHIN_MS),
    /**
     * Ends it. Everything up to `knownUntilMs` is known ground from now on, unless it is a recent one that has not
     * settled: that one may have missed a change below what it read.
     */
    async complete(sync: CompleteSyncRequest, writer: Writer): Promise<void> {
      for (const mark of marksOf(mirror, sync))
        for (let after: string | undefined = ""; after !== undefined;) {
          const afterId: string = after;
          after = await database.transact(
            (db) => markSome(db, mirror, sync, { ...mark, afterId, writer }),
            WHOLE_WITHIN_MS,
          );
        }
      await database.transact((db) => end(db, sync));
    },
    /** By id, `most` at a time, those that are missing among them. */
    async page(
      business: Business,
      { afterId = "", most }: { afterId?: string | undefined; most: number },
    ): Promise<KeptEntry<Entry>[]> {
      const chain = chainColumns(mirror, business);
      const rows = await database.transact((db) => readRows(db, mirror, chain, sql`id > ${afterId}`, most));
      return rows.map(({ body, sync_status: status = null, missing_since: since, workflow_id, run_id }) => ({
        entry: body as Entry,
        syncStatus: status as BillPaymentStatus | null,
        missingSinceMs: since?.getTime() ?? null,
        writer: { workflowId: workflow_id, runId: run_id },
      }));
    },
    /** What its events say of an entry, oldest first. */
    history: (business: Business, id: string): Promise<(State & { changes: Change[]; writer: Writer })[]> =>
      database.transact((db) => history(db, mirror, chainColumns(mirror, business), id)),
  };
}

export function chainColumns({ chainOf }: Mirror, business: Business): Chain {
  return businessColumns(chainOf(business));
}

/** A run that was reset finds what its predecessor has begun, and what was known then. */
async function begin(db: Queries, whose: Business, { syncId, kind }: Sync): Promise<BegunSync> {
  const chain = businessColumns(whose);
  // What was left out belongs to the ground: a full one that never settles, for a row without an id, has left it out too.
  const { rows: before } = await sql<{ known_until: Date; left_out: Record<string, number> }>`
    select known_until, left_out from syncs
    where ${hasValues(chain)} and sync_id <> ${storableText(syncId)} and known_until is not null
    order by known_until desc limit 1`.execute(db);
  const [ground] = before;
  const kindNow = ground === undefined && kind === "recent" ? "full" : kind;
  const { rows } = await sql<{ kind: SyncKind; started_at: Date }>`
    insert into syncs (sync_id, connection, business_id, kind)
    values (${storableText(syncId)}, ${chain.connection}, ${chain.business_id}, ${kindNow})
    on conflict (sync_id) do update set sync_id = excluded.sync_id returning kind, started_at`.execute(db);
  const [begun] = rows;
  if (!begun) throw new Error("a row was inserted, or is there");
  return {
    kind: begun.kind,
    startedAtMs: begun.started_at.getTime(),
    ...(ground && { knownUntilMs: ground.known_until.getTime(), leftOut: ground.left_out }),
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

/**
 * Keeps one page, and tells of what is new in it in the events of its chain. A page that is kept twice changes nothing
 * the second time, and a row that a later page has shown stays as it is: an attempt that was given up may still be on
 * its way.
 */
async function keepPage<Entry extends { id: string }>(
  db: Queries,
  mirror: Mirror,
  page: KeepPageRequest<Entry>,
): Promise<KeptPage> {
  const chain = chainColumns(mirror, page);
  const { status, writer } = page;
  const at = new Date(page.askedAtMs);
  await lock(db, mirror, chain);
  // Of an id that a page has twice, the last one counts.
  const listed = new Map(page.entries.map((entry) => [storableText(entry.id), storableJson<unknown>(entry)]));
  const leftOut = [...new Set((page.leftOut ?? []).map(storableText))].filter((id) => !listed.has(id));
  const rows = await readRows(db, mirror, chain, sql`id = any(${[...listed.keys(), ...leftOut]})`);
  const kept = new Map(rows.map((row) => [row.id, row]));
  // Listed, and not readable: as far as is known it is what it was.
  const unread = leftOut.flatMap((id): [string, unknown][] => {
    const row = kept.get(id);
    return row ? [[id, row.body]] : [];
  });
  const isLate = (id: string): boolean => (kept.get(id)?.observed_at ?? at) > at;
  const seen = [...listed, ...unread].filter(([id]) => !isLate(id));
  const states = new Map(
    seen.map(([id, entry]): [string, State] => {
      return [id, { entry, status: status ?? kept.get(id)?.sync_status ?? null, isMissing: false }];
    }),
  );
  const news = await put(db, mirror, chain, { states, kept, at, writer });
  const marks = [
    sql`observed_at = ${at}`,
    ...(status !== undefined && hasListStatus(mirror) ? [sql`status_observed_at = ${at}`] : []),
  ];
  await sql`
    update ${sql.table(mirror.table)} set ${sql.join(marks)}
    where ${hasValues(chain)} and id = any(${[...states.keys()]})`.execute(db);
  const isKnown = (id: string): boolean => {
    const changedAt = kept.get(id)?.changed_at;
    return changedAt !== undefined && !news.has(id) && changedAt.getTime() <= (page.knownUntilMs ?? 0);
  };
  const changes = [...news.values()];
  return {
    rows: page.entries.length,
    added: changes.filter((of) => of.includes("first-seen")).length,
    changed: changes.filter((of) => of.some((one) => one !== "first-seen" && one !== "status-learned")).length,
    known: page.entries.length > 0 && [...listed.keys()].every(isKnown),
    ...(unread.length > 0 && { leftOutKnown: unread.length }),
  };
}

function hasListStatus({ status }: Mirror): boolean {
  return status === "sync_status";
}

function changesOf(mirror: Mirror, row: MirrorRow | undefined, { entry, status, isMissing }: State): Change[] {
  if (row === undefined) return ["first-seen"];
  const { sync_status: known = null, missing_since: since } = row;
  const changes: (Change | false)[] = [
    hasListStatus(mirror) && status !== known && (known === null ? "status-learned" : "status"),
    canonicalJson(entry) !== canonicalJson(row.body) && "content",
    isMissing && since === null && "missing",
    !isMissing && since !== null && "returned",
  ];
  return changes.filter((change) => change !== false);
}

/**
 * Writes what is new in its rows, and tells of it in the chain. A row that does not say what its last event says stays
 * as it is, since its event would say the same: `ledger verify` names it, until somebody mends it.
 * @returns what has changed, by id
 */
async function put(
  db: Queries,
  mirror: Mirror,
  chain: Chain,
  {
    states,
    kept,
    at,
    writer,
  }: { states: ReadonlyMap<string, State>; kept: ReadonlyMap<string, MirrorRow>; at: Date; writer: Writer },
): Promise<Map<string, Change[]>> {
  const candidates = [...states].flatMap(([id, state]) => {
    const changes = changesOf(mirror, kept.get(id), state);
    return changes.length === 0 ? [] : [{ id, state, changes }];
  });
  const rows = candidates.flatMap(({ id }) => kept.get(id) ?? []);
  const altered = new Set(await alteredAmong(db, mirror, chain, rows));
  const news = candidates.filter(({ id }) => !altered.has(id));
  if (news.length === 0) return new Map();
  const events = news.map(({ id, state: { entry, status, isMissing }, changes }) => {
    const content = { changes, entry, isMissing, ...(hasListStatus(mirror) && { status }) };
    return { kind: kindOf(mirror), subject: subjectOf(mirror, id), content, writer };
  });
  const numbers = await appendEvents(db, { connection: chain.connection, businessId: chain.business_id }, events);
  const values = news.map(({ id, state: { entry, status, isMissing } }, index): Row => ({
    ...chain,
    id,
    body: canonicalJson(entry),
    ...(hasListStatus(mirror) && { sync_status: status }),
    // As the page was asked for: a synchronisation's known ground ends when its last page was.
    changed_at: at,
    observed_at: kept.get(id)?.observed_at ?? at,
    missing_since: isMissing ? at : null,
    event_number: numbers[index] ?? 0,
    ...writerColumns(writer),
  }));
  const key = [...Object.keys(chain), "id"];
  const replaced = Object.keys(values[0] ?? {}).filter((name) => !key.includes(name));
  const replacing = Object.fromEntries(replaced.map((name) => [name, sql.ref(`excluded.${name}`)]));
  await db
    .insertInto(mirror.table)
    .values(values as never)
    .onConflict((conflict) => conflict.columns(key as never).doUpdateSet(replacing))
    .execute();
  return new Map(news.map(({ id, changes }) => [id, changes]));
}

interface Mark {
  which: RawBuilder<unknown>;
  stateOf: (row: MirrorRow) => State;
}

/** What is not listed any more, and what is in no list of a status. */
function marksOf(mirror: Mirror, { goneBeforeMs, withStatuses }: CompleteSyncRequest): Mark[] {
  if (goneBeforeMs === undefined) return [];
  const before = new Date(goneBeforeMs);
  const gone: Mark = {
    which: sql`missing_since is null and observed_at < ${before}`,
    stateOf: ({ body, sync_status: status = null }) => ({ entry: body, status, isMissing: true }),
  };
  if (!withStatuses || !hasListStatus(mirror)) return [gone];
  const withoutStatus: Mark = {
    which: sql`missing_since is null and sync_status is not null and status_observed_at < ${before}`,
    stateOf: ({ body }) => ({ entry: body, status: null, isMissing: false }),
  };
  return [gone, withoutStatus];
}

/** Rows that one transaction marks: it has the time of one operation, also where the machine is busy. */
const BATCH = 500;

/** @returns the last id that was looked at; undefined where no row is left */
async function markSome(
  db: Queries,
  mirror: Mirror,
  business: Business,
  { which, stateOf, afterId, writer }: Mark & { afterId: string; writer: Writer },
): Promise<string | undefined> {
  const chain = chainColumns(mirror, business);
  await lock(db, mirror, chain);
  const rows = await readRows(db, mirror, chain, sql`id > ${afterId} and ${which}`, BATCH);
  const kept = new Map(rows.map((row) => [row.id, row]));
  const states = new Map(rows.map((row) => [row.id, stateOf(row)]));
  await put(db, mirror, chain, { states, kept, at: new Date(await clockMs(db)), writer });
  return rows.length < BATCH ? undefined : rows.at(-1)?.id;
}

/**
 * Two transactions about one owner follow each other: a page that was given up may still be on its way. The lock's
 * name, stated here alone, is the table's and the owner's key; to change it is to let two versions write at once while
 * one takes the other's place.
 */
async function lock(db: Queries, { table }: Mirror, chain: Chain): Promise<void> {
  const name = JSON.stringify([table, ...Object.values(chain)]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}

/** By id; `limit`: all by default. */
async function readRows(
  db: Queries,
  { table }: Mirror,
  chain: Chain,
  which: RawBuilder<unknown>,
  limit: number | null = null,
): Promise<MirrorRow[]> {
  const { rows } = await sql<MirrorRow>`
    select * from ${sql.table(table)} where ${hasValues(chain)} and ${which} order by id limit ${limit}`.execute(db);
  return rows;
}

async function countSince(db: Queries, mirror: Mirror, business: Business, since: Date): Promise<CountedSync> {
  const status = hasListStatus(mirror)
    ? sql`case when status_observed_at >= ${since} then sync_status end`
    : sql`status`;
  const there = sql`missing_since is null and observed_at`;
  const seen = await countBy(db, mirror, business, sql`${there} >= ${since}`, status);
  const unseen = await countBy(db, mirror, business, sql`${there} < ${since}`);
  return { ...seen, unseen: unseen.total };
}

/** Counted by status; `none` for those of none. */
export async function countBy(
  db: Queries,
  mirror: Mirror,
  business: Business,
  which: RawBuilder<unknown>,
  status: RawBuilder<unknown> = sql.ref(mirror.status),
): Promise<{ total: number; byStatus: Record<string, number> }> {
  const { rows } = await sql<{ status: string; count: string }>`
    select coalesce(${status}, 'none') as status, count(*) from ${sql.table(mirror.table)}
    where ${hasValues(chainColumns(mirror, business))} and ${which} group by 1 order by 1`.execute(db);
  const counts = rows.map(({ status: name, count }): [string, number] => [name, Number(count)]);
  return { total: counts.reduce((sum, [, count]) => sum + count, 0), byStatus: Object.fromEntries(counts) };
}

async function history(db: Queries, mirror: Mirror, chain: Chain, id: string) {
  const rows = await db
    .selectFrom("events")
    .select(["content", "workflow_id", "run_id"])
    .where((eb) => eb.and({ ...chain, kind: kindOf(mirror), subject: subjectOf(mirror, id) }))
    .orderBy("number")
    .execute();
  return rows.map(({ content, workflow_id: workflowId, run_id: runId }) => {
    return { ...(JSON.parse(content) as State & { changes: Change[] }), writer: { workflowId, runId } };
  });
}

function kindOf({ noun }: Mirror): string {
  return `${noun.replace(" ", "-")}-seen`;
}

function subjectOf({ noun }: Mirror, id: string): string {
  return `${noun} ${id}`;
}

/** Each event has all of the entry, so that the last one makes its row. */
export function provenEntries(mirror: Mirror, chain: Chain): ProvenRows<State> {
  return {
    table: mirror.table,
    owner: chain,
    idColumn: "id",
    noun: mirror.noun,
    kinds: [kindOf(mirror)],
    after: (_before, { content }) => JSON.parse(content) as State,
    columnsOf({ entry, status, isMissing }, { writer }) {
      if (entry === undefined) throw new Error("the event does not tell what was seen");
      const missing = isMissing ? SOME_VALUE : null;
      return {
        body: entry,
        ...(hasListStatus(mirror) && { sync_status: status }),
        missing_since: missing,
        ...writer,
      };
    },
  };
}

/** The ids of those rows that do not say what the last events about them say. */
export async function alteredAmong(
  db: Queries,
  mirror: Mirror,
  chain: Chain,
  rows: readonly MirrorRow[],
): Promise<string[]> {
  if (rows.length === 0) return [];
  const listed = rows.map((row): Row => ({ ...row }));
  const found = await findingsOf(db, chain, provenEntries(mirror, chain), listed);
  return found.map(({ subject }) => subject.slice(mirror.noun.length + 1));
}
