import { sql } from "kysely";
import type { Queries } from "./database.ts";

/** The instant by the database's own clock (Unix milliseconds), so that the clocks of the hosts do not matter. */
export async function clockMs(db: Queries): Promise<number> {
  const { rows } = await sql<{ now_ms: string }>`
    select floor(extract(epoch from clock_timestamp()) * 1000) as now_ms`.execute(db);
  return Number(rows[0]?.now_ms);
}
