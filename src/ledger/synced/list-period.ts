import { type RawBuilder, sql } from "kysely";

import { CALENDAR_DATE } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { pagesOf, readOneState } from "../one-state.ts";
import type { Row } from "../events/verify-rows.ts";
import type { Collection, KeptColumns, PeriodOfOwner, PeriodRequest } from "./collection.ts";
import { ofOwner } from "./rows.ts";
import { alteredAmong } from "./verify.ts";

/** Whether a column's text is a date that exists: a service's `0000-00-00` or `2026-11-31` is none. */
export function isCalendarDateIn(column: string): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${sql.ref(column)} ~ ${CALENDAR_DATE}, false)`;
}

/** What a list of a collection has of its own. */
export interface PeriodList<Entry extends { id: string }, Listed, Figures> {
  collection: Collection<Entry>;
  /** Within one date. */
  order: RawBuilder<unknown>;
  /** A column beside the row's, `kept`. */
  beside?: (owner: Row) => RawBuilder<unknown>;
  listed: (row: KeptColumns, business: Business, isAltered: boolean) => Listed;
  /**
   * @param rows the rows of the period, as a table `kept`
   * @param altered the ids of those that somebody has altered
   */
  figures: (db: Queries, rows: RawBuilder<unknown>, owner: Row, altered: ReadonlySet<string>) => Promise<Figures>;
}

/**
 * Gives `read` the entries of a period, page by page, all from one state of the ledger, each held against the events
 * that tell of it. `read` runs once.
 * @throws LedgerUnavailableError, LedgerError, and what `read` throws
 */
export function listPeriod<Entry extends { id: string }, Listed, Figures, Result>(
  database: Database,
  list: PeriodList<Entry, Listed, Figures>,
  request: PeriodRequest,
  read: (owners: (PeriodOfOwner<Listed> & Figures)[]) => Promise<Result>,
): Promise<Result> {
  const prepare = async (db: Queries): Promise<(PeriodOfOwner<Listed> & Figures)[]> => {
    const owners: (PeriodOfOwner<Listed> & Figures)[] = [];
    for (const business of await ownersOf(db, list.collection, request))
      owners.push(await periodOf(db, list, business, request));
    return owners;
  };
  return readOneState(database, prepare, read);
}

async function ownersOf<Entry extends { id: string }>(
  db: Queries,
  { table, ownerOf }: Collection<Entry>,
  { connection, businessId }: PeriodRequest,
): Promise<Business[]> {
  const columns = Object.keys(ownerOf({ connection: "" })).map((column) => sql.ref(column));
  const asked: Row = {
    ...(connection !== undefined && { connection }),
    ...(businessId !== undefined && { business_id: businessId }),
  };
  const where = Object.keys(asked).length > 0 ? ofOwner(asked) : sql`true`;
  const { rows } = await sql<{ connection: string; business_id?: string }>`
    select distinct ${sql.join(columns)} from ${sql.table(table)} where ${where}
    order by ${sql.join(columns)}`.execute(db);
  return rows.map((row) => ({ connection: row.connection, businessId: row.business_id }));
}

async function periodOf<Entry extends { id: string }, Listed, Figures>(
  db: Queries,
  list: PeriodList<Entry, Listed, Figures>,
  business: Business,
  { days }: PeriodRequest,
): Promise<PeriodOfOwner<Listed> & Figures> {
  const { collection, order, beside } = list;
  const { date } = collection;
  const owner = collection.ownerOf(business);
  const isDate = isCalendarDateIn(date);
  const ofPeriod = sql`
    (select * from ${sql.table(collection.table)}
    where ${ofOwner(owner)} and ${isDate} and ${sql.ref(date)} between ${days.from} and ${days.to}) as kept`;
  const rows = () =>
    pagesOf<KeptColumns>(
      db,
      sql`select kept.*, ${beside?.(owner) ?? sql`null`} as beside from ${ofPeriod} order by ${sql.ref(date)}, ${order}`,
    );
  const chain = businessColumns(collection.chainOf(business));
  const altered = new Set<string>();
  for await (const page of rows()) for (const id of await alteredAmong(db, collection, chain, page)) altered.add(id);
  const { rows: found } = await sql<{ undated: string; first: string | null }>`
    select count(*) as undated, (array_agg(${sql.ref(collection.idColumn)} order by ${sql.ref(collection.idColumn)}))[1] as first
    from ${sql.table(collection.table)} where ${ofOwner(owner)} and not ${isDate}`.execute(db);
  return {
    ...businessOf(business),
    ...(await syncedAt(db, collection, business)),
    ...(await list.figures(db, ofPeriod, owner, altered)),
    altered: altered.size,
    undated: Number(found[0]?.undated),
    firstUndated: found[0]?.first ?? null,
    async *pages() {
      for await (const page of rows())
        yield page.map((row) => list.listed(row, business, altered.has(String(row[collection.idColumn]))));
    },
  };
}

/** One that has not settled may have missed what changed meanwhile; a window says nothing of what is older. */
async function syncedAt(
  db: Queries,
  { table }: Collection<never>,
  business: Business,
): Promise<Pick<PeriodOfOwner<never>, "syncedAtMs" | "newestSyncedAtMs">> {
  const { rows } = await sql<{ whole: Date | null; newest: Date | null }>`
    select max(started_at) as newest, max(started_at) filter (where kind = 'full') as whole
    from syncs where ${ofOwner({ collection: table, ...businessColumns(business) })} and settled and kind <> 'window'
    `.execute(db);
  const [row] = rows;
  return { syncedAtMs: row?.whole?.getTime() ?? null, newestSyncedAtMs: row?.newest?.getTime() ?? null };
}

function businessOf({ connection, businessId }: Business): { connection: string; businessId: string } {
  return { connection, businessId: businessColumns({ connection, businessId }).business_id };
}
