import { sql } from "kysely";

import type { Queries } from "../database.ts";

/** A run whose execution of a call that is sent at most once took its claim, and never wrote how it ended. */
export interface LostExecution {
  workflowId: string;
  runId: string;
}

/**
 * The runs of which a claim's deadline has passed since then (Unix milliseconds), and whose execution has not ended: it
 * was lost with its worker, or stands still. Also those whose outcome an operator is asked for already.
 */
export async function lostExecutions(db: Queries, sinceMs: number): Promise<LostExecution[]> {
  const since = new Date(sinceMs);
  const { rows } = await sql<{ holder: string }>`
    select distinct holder from (
      select workflow_id || ' (run ' || run_id || ')' as holder from movements
      where state = 'held' and under_way_until between ${since} and now()
      union all
      select holder from documents where claim = 'in-doubt' and under_way_until between ${since} and now()
      union all
      select workflow_id || ' (run ' || run_id || ')' from sync_batches
      where state = 'held' and under_way_until between ${since} and now()
    ) as held where holder is not null`.execute(db);
  return rows.flatMap(({ holder }) => {
    const [, workflowId, runId] = HOLDER.exec(holder) ?? [];
    return workflowId !== undefined && runId !== undefined ? [{ workflowId, runId }] : [];
  });
}

const HOLDER = /^(.+) \(run ([^)]+)\)$/s;
