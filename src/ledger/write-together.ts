import { type OperationNodeSource, sql } from "kysely";

import type { Queries } from "./database.ts";

/**
 * Does several writes in one statement, which is one round trip. None of them sees what another one does, and no two
 * may be about one row; foreign keys hold at the end.
 */
export async function writeTogether(
  db: Queries,
  last: OperationNodeSource,
  others: readonly OperationNodeSource[],
): Promise<void> {
  const named = others.map((write, index) => sql`${sql.ref(`write_${index}`)} as (${write})`);
  await sql`with ${sql.join(named)} ${last}`.execute(db);
}
