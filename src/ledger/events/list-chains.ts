import { sql } from "kysely";

import type { Queries } from "../database.ts";

/**
 * Every business that has events, a head, or both: from one to the next by the index, since a scan would read every
 * event.
 */
export async function nextChain(
  db: Queries,
  after: { connection: string; business_id: string } | undefined,
): Promise<{ connection: string; business_id: string } | undefined> {
  const beyond = after
    ? sql`where (connection, business_id) > (${after.connection}, ${after.business_id})`
    : sql`where true`;
  const { rows } = await sql<{ connection: string; business_id: string }>`
    select connection, business_id from (
      (select connection, business_id from event_heads ${beyond} order by connection, business_id limit 1)
      union all
      (select connection, business_id from events ${beyond} order by connection, business_id limit 1)
    ) as next order by connection, business_id limit 1`.execute(db);
  return rows[0];
}
