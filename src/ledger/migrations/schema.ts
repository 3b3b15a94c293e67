import { type Kysely, type RawBuilder, sql } from "kysely";

/** To qualify the names in a function that runs with the owner's rights: its search path must have nothing of a caller's. */
export async function schemaOf(db: Kysely<unknown>): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  return sql.id(rows[0]?.schema ?? "public");
}
