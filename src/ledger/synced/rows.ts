import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Business, NewEvent, Writer } from "../events/chain.ts";
import { writerColumns } from "../events/row.ts";
import type { Row } from "../events/verify-rows.ts";
import { assignments } from "../statements.ts";
import type { Collection, KeptColumns } from "./collection.ts";

/** Rows that one transaction marks: it has the time of one operation, also where the machine is busy. */
const BATCH = 500;

type AnyCollection = Pick<Collection<never>, "table" | "idColumn" | "ownerOf" | "chainOf" | "events">;

export function ofOwner(owner: Row): RawBuilder<boolean> {
  return sql<boolean>`${sql.join(assignments(owner), sql` and `)}`;
}

export function ofIds({ idColumn }: AnyCollection, owner: Row, ids: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`${ofOwner(owner)} and ${sql.ref(idColumn)} = any(${ids})`;
}

/**
 * Two transactions about one owner follow each other: a page that was given up may still be on its way. The lock's
 * name, stated here alone, is the table's and the owner's key; to change it is to let two versions write at once while
 * one takes the other's place.
 */
export async function lock(db: Queries, { table }: AnyCollection, owner: Row): Promise<void> {
  const name = JSON.stringify([table, ...Object.values(owner)]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}

/** Those of the owner among these, by id. */
export async function readRows(
  db: Queries,
  collection: AnyCollection,
  owner: Row,
  ids: readonly string[],
): Promise<Map<string, KeptColumns>> {
  const { table, idColumn } = collection;
  const { rows } = await sql<KeptColumns>`
    select * from ${sql.table(table)} where ${ofIds(collection, owner, ids)}`.execute(db);
  return new Map(rows.map((row) => [String(row[idColumn]), row]));
}

/** By id, `most` at a time. */
export async function readPage(
  db: Queries,
  { table, idColumn }: AnyCollection,
  owner: Row,
  { afterId = "", most }: { afterId?: string | undefined; most: number },
): Promise<KeptColumns[]> {
  const { rows } = await sql<KeptColumns>`
    select * from ${sql.table(table)} where ${ofOwner(owner)} and ${sql.ref(idColumn)} > ${afterId}
    order by ${sql.ref(idColumn)} limit ${most}`.execute(db);
  return rows;
}

/** Has rows name the events that tell of a change in them, and who wrote them. */
export async function nameEvents(
  db: Queries,
  { table, idColumn }: AnyCollection,
  owner: Row,
  events: ReadonlyMap<string, number>,
  { writer, set }: { writer: Writer; set: RawBuilder<unknown> },
): Promise<void> {
  if (events.size === 0) return;
  const { workflow_id, run_id } = writerColumns(writer);
  await sql`
    update ${sql.table(table)} set event_number = news.number, workflow_id = ${workflow_id}, run_id = ${run_id}, ${set}
    from unnest(${[...events.keys()]}::text[], ${[...events.values()]}::bigint[]) as news (id, number)
    where ${ofOwner(owner)} and ${sql.ref(idColumn)} = news.id`.execute(db);
}

/**
 * Marks some of the rows of which something is so, and tells of each.
 * @returns true while there are more: to be called again
 */
export async function markSome(
  db: Queries,
  collection: AnyCollection,
  business: Business,
  mark: { which: RawBuilder<unknown>; set: RawBuilder<unknown>; event: (id: string) => NewEvent; writer: Writer },
): Promise<boolean> {
  const { table, idColumn } = collection;
  const owner = collection.ownerOf(business);
  await lock(db, collection, owner);
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(idColumn)} as id from ${sql.table(table)} where ${ofOwner(owner)} and ${mark.which}
    order by ${sql.ref(idColumn)} limit ${BATCH}`.execute(db);
  const ids = rows.map(({ id }) => id);
  const numbers = await appendEvents(db, collection.chainOf(business), ids.map(mark.event));
  const numberOf = new Map(ids.map((id, index) => [id, numbers[index] ?? 0]));
  const set = sql`changed_at = clock_timestamp(), ${mark.set}`;
  await nameEvents(db, collection, owner, numberOf, { writer: mark.writer, set });
  return ids.length === BATCH;
}

/** Counted by status; `none` for those of none. */
export async function countBy(
  db: Queries,
  { table }: AnyCollection,
  owner: Row,
  which: RawBuilder<unknown>,
  status: RawBuilder<unknown>,
): Promise<{ total: number; byStatus: Record<string, number> }> {
  const { rows } = await sql<{ status: string; count: string }>`
    select coalesce(${status}, 'none') as status, count(*) from ${sql.table(table)} where ${ofOwner(owner)} and ${which}
    group by 1 order by 1`.execute(db);
  const counts = rows.map(({ status: name, count }): [string, number] => [name, Number(count)]);
  return { total: counts.reduce((sum, [, count]) => sum + count, 0), byStatus: Object.fromEntries(counts) };
}
