import { type RawBuilder, sql } from "kysely";

import { CALENDAR_DATE } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business, Chain } from "../events/chain.ts";
import { pagesOf, readSnapshot } from "../snapshot.ts";
import { chainsOf } from "./figures.ts";
import { alteredAmong, chainColumns, type Mirror, type MirrorRow } from "./mirror.ts";
import { hasValues, unixMs } from "../statements.ts";
import type { Days, PeriodRequest } from "./report-types.ts";

/** The entries of one owner that a period has by their own date. */
export interface PeriodOfOwner<Listed> {
  connection: string;
  /** `-` for none, and of an accounting connection. */
  businessId: string;
  /** When the last synchronisation began that read the whole list; null before one came to its end. */
  syncedAtMs: number | null;
  /** When the last one began that read at least what is new; never before `syncedAtMs`. */
  newestSyncedAtMs: number | null;
  /** Listed, and not as the events say that they were read. */
  altered: number;
  /** Of the owner, and in the list of no day: their date is none that exists, written `YYYY-MM-DD`. */
  undated: number;
  /** The id of one of them. */
  firstUndated: string | null;
  /** By date. To be read once, to its end, one owner after the other. */
  pages: () => AsyncIterable<Listed[]>;
}

/** What is known of every listed entry beside what the service said last. */
export interface ListedEntry {
  connection: string;
  /** Since when a full synchronisation does not find it (Unix milliseconds); null while it is listed. */
  missingSinceMs: number | null;
  /** Its row does not say what its events say: somebody has altered one of them. */
  altered: boolean;
}

/** Whether a column's text is a date that exists: a service's `0000-00-00` or `2026-11-31` is none. */
export function isCalendarDateIn(column: string): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${sql.ref(column)} ~ ${CALENDAR_DATE}, false)`;
}

/** What a list of a mirror has of its own. */
interface PeriodList<Figures> {
  mirror: Mirror;
  /** The connection of a chain, as everybody names it. */
  connectionOf: (chain: Chain) => string;
  /** What is selected of a table `kept` beside {@link ListedEntry}. */
  columns: (chain: Chain) => RawBuilder<unknown>;
  /** Within one date. */
  order: RawBuilder<unknown>;
  /** @param rows the rows of the period, as a table `kept` with a column `altered` */
  figures: (db: Queries, rows: RawBuilder<unknown>, chain: Chain) => Promise<Figures>;
}

/**
 * Gives `read` the entries of a period, page by page, all from one state of the ledger, each held against the event that
 * tells of it. `read` runs once.
 * @throws LedgerUnavailableError, LedgerError, and what `read` throws
 */
export function listPeriod<Listed extends ListedEntry, Figures, Result>(
  database: Database,
  list: PeriodList<Figures>,
  request: PeriodRequest,
  read: (owners: (PeriodOfOwner<Listed> & Figures)[]) => Promise<Result>,
): Promise<Result> {
  const { table, chainOf } = list.mirror;
  const { connection, businessId } = request;
  // A chain of an accounting connection has a name of its own.
  const named = connection === undefined ? undefined : chainOf({ connection }).connection;
  const prepare = async (db: Queries): Promise<(PeriodOfOwner<Listed> & Figures)[]> => {
    const owners: (PeriodOfOwner<Listed> & Figures)[] = [];
    for (const chain of await chainsOf(db, table, { connection: named, businessId }))
      owners.push(await periodOf<Listed, Figures>(db, list, chain, request.days));
    return owners;
  };
  return readSnapshot(database, prepare, read);
}

async function periodOf<Listed extends ListedEntry, Figures>(
  db: Queries,
  { mirror, connectionOf, columns, order, figures }: PeriodList<Figures>,
  chain: Chain,
  days: Days,
): Promise<PeriodOfOwner<Listed> & Figures> {
  const table = sql.table(mirror.table);
  const date = sql.ref(mirror.date);
  const isDate = isCalendarDateIn(mirror.date);
  const ofPeriod = sql`${table} where ${hasValues(chain)} and ${isDate} and ${date} between ${days.from} and ${days.to}`;
  const altered: string[] = [];
  for await (const page of pagesOf<MirrorRow>(db, sql`select * from ${ofPeriod} order by ${date}`))
    altered.push(...(await alteredAmong(db, mirror, chain, page)));
  const rows = sql`(select *, id = any(${altered}::text[]) as altered from ${ofPeriod}) as kept`;
  const { rows: found } = await sql<{ undated: string; first: string | null }>`
    select count(*) as undated, min(id) as first from ${table} where ${hasValues(chain)} and not ${isDate}`.execute(db);
  const connection = connectionOf(chain);
  return {
    connection,
    businessId: chain.business_id,
    ...(await syncedAt(db, chain)),
    ...(await figures(db, rows, chain)),
    altered: altered.length,
    undated: Number(found[0]?.undated),
    firstUndated: found[0]?.first ?? null,
    pages: () =>
      pagesOf<Listed>(
        db,
        sql`select ${connection}::text as connection, ${columns(chain)}, kept.altered,
          ${unixMs(sql`missing_since`)} as "missingSinceMs"
          from ${rows} order by ${date}, ${order}`,
      ),
  };
}

/** One that has not settled may have missed what changed meanwhile; a window says nothing of what is older. */
async function syncedAt(
  db: Queries,
  chain: Chain,
): Promise<Pick<PeriodOfOwner<never>, "syncedAtMs" | "newestSyncedAtMs">> {
  const { rows } = await sql<{ whole: Date | null; newest: Date | null }>`
    select max(started_at) as newest, max(started_at) filter (where kind = 'full') as whole
    from syncs where ${hasValues(chain)} and settled and kind <> 'window'`.execute(db);
  const [row] = rows;
  return { syncedAtMs: row?.whole?.getTime() ?? null, newestSyncedAtMs: row?.newest?.getTime() ?? null };
}

/**
 * When the last synchronisation that settled began, if the ledger has had all of a list since. It has less if a row
 * could not be read, by that synchronisation, by the one whose ground it goes on from, or by a later one.
 */
export async function wholeAsOf(db: Queries, mirror: Mirror, business: Business): Promise<number | undefined> {
  const { rows } = await sql<{ started_at: Date; left_out: Record<string, number> | null; settled: boolean }>`
    with chain as (
      select started_at, left_out, settled from syncs
      where ${hasValues(chainColumns(mirror, business))} and kind <> 'window' and completed_at is not null)
    select * from chain
    where started_at >= (select max(started_at) from chain where settled)
    order by started_at`.execute(db);
  const isWhole = rows.every(({ left_out: leftOut }) => Object.values(leftOut ?? {}).every((count) => count === 0));
  return isWhole ? rows.find(({ settled }) => settled)?.started_at.getTime() : undefined;
}
