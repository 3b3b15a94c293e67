import { type RawBuilder, sql } from "kysely";

/** The beginning of a statement that inserts a row where something is so: a source or a condition may follow. */
export function insertRowFrom(table: string, row: Readonly<Record<string, unknown>>): RawBuilder<unknown> {
  const columns = Object.keys(row).map((column) => sql.ref(column));
  return sql`insert into ${sql.table(table)} (${sql.join(columns)}) select ${sql.join(Object.values(row))}`;
}
