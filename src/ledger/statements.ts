import { type RawBuilder, sql } from "kysely";

import type { Queries } from "./database.ts";

/** The beginning of a statement that inserts a row where something is so: a source or a condition may follow. */
export function insertRowFrom(table: string, row: Readonly<Record<string, unknown>>): RawBuilder<unknown> {
  const columns = Object.keys(row).map((column) => sql.ref(column));
  return sql`insert into ${sql.table(table)} (${sql.join(columns)}) select ${sql.join(Object.values(row))}`;
}

/** What `update … set` is given. */
export function assignments(columns: Readonly<Record<string, unknown>>): RawBuilder<unknown>[] {
  return Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
}

/** That a row has all of these values. */
export function hasValues(columns: Readonly<Record<string, unknown>>): RawBuilder<boolean> {
  return sql<boolean>`${sql.join(assignments(columns), sql` and `)}`;
}

/** An instant of the database as Unix milliseconds. */
export function unixMs(instant: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`floor(extract(epoch from ${instant}) * 1000)::float8`;
}

/** The instant by the database's own clock (Unix milliseconds), so that the clocks of the hosts do not matter. */
export async function clockMs(db: Queries): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${unixMs(sql`clock_timestamp()`)} as now`.execute(db);
  return rows[0]?.now ?? Number.NaN;
}
