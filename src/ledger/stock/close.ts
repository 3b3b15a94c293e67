import { sql } from "kysely";

import { tombstone } from "../claims/at-most-once.ts";
import { columnsOf, eventOf } from "../claims/claim.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import { businessColumns, writerColumns } from "../events/row.ts";
import { assignments } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import type { CloseRequest } from "./claims.ts";
import { MOVEMENTS, movementClaim } from "./movement.ts";

/** Puts tombstones on all that nobody holds, with two statements for the rows and one for their events. */
export async function close(db: Queries, { keys, writer, nowMs }: CloseRequest): Promise<void> {
  const [first] = keys;
  if (!first) return;
  // In one order, so that two who close the same movements do not wait for each other.
  const references = keys.map(({ referenceId }) => storableText(referenceId)).toSorted();
  const { connection, business_id } = businessColumns(first);
  const by = writerColumns(writer);
  const buried = assignments({ ...columnsOf(tombstone(nowMs)), token: null, ...MOVEMENTS.whenTaken, ...by });
  const made = await sql<{ reference_id: string; generation: number }>`
    insert into movements (connection, business_id, reference_id, generation, state, taken_at, workflow_id, run_id)
    select ${connection}, ${business_id}, reference_id, 1, 'buried', ${new Date(nowMs)}::timestamptz, ${sql.join(Object.values(by))}
    from unnest(${references}::text[]) with ordinality as one (reference_id, place) order by place
    on conflict do nothing returning reference_id, generation`.execute(db);
  const closed = await sql<{ reference_id: string; generation: number }>`
    update movements as m set generation = m.generation + 1, ${sql.join(buried)}
    from (
      select reference_id from movements
      where connection = ${connection} and business_id = ${business_id} and reference_id = any(${references}::text[])
        and reference_id <> all(${made.rows.map(({ reference_id }) => reference_id)}::text[])
        and state in ('not-applied', 'buried')
      order by reference_id for update) as free
    where m.connection = ${connection} and m.business_id = ${business_id} and m.reference_id = free.reference_id
    returning m.reference_id, m.generation`.execute(db);
  // Last: whoever has appended holds the chain of the business, and must wait for no row.
  const events = [...made.rows, ...closed.rows].map(({ reference_id: referenceId, generation }) => {
    const change = { generation, ...tombstone(nowMs) };
    return eventOf(movementClaim({ ...first, referenceId }), writer, { what: "buried", generation, change });
  });
  await appendEvents(db, first, events);
}
