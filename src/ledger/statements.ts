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

/** One statement may have 65,535 parameters: rows of up to twenty columns, beside others. */
const ROWS_A_STATEMENT = 1_000;

/** In their order, as many rows as one statement writes into one table. */
export function piecesOf<Row>(rows: readonly Row[]): Row[][] {
  const pieces: Row[][] = [];
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT)
    pieces.push(rows.slice(from, from + ROWS_A_STATEMENT));
  return pieces;
}

/** The instant by the database's own clock (Unix milliseconds), so that the clocks of the hosts do not matter. */
export async function clockMs(db: Queries): Promise<number> {
  const { rows } = await sql<{ now_ms: string }>`
    select floor(extract(epoch from clock_timestamp()) * 1000) as now_ms`.execute(db);
  return Number(rows[0]?.now_ms);
}
