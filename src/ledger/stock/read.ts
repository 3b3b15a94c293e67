import { sql } from "kysely";

import type { KnownMovement } from "../../contract/index.ts";
import type { UnderWay } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import type { NewEvent } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { assignments } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import type { ClaimEvent, CloseRequest, MovementKey, ReadOrBuryRequest } from "./claims.ts";
import {
  changeRow,
  checkGeneration,
  insertOrLock,
  keyColumns,
  knownOf,
  type MovementChange,
  newEvent,
  nextOrder,
  NO_OUTCOME,
  openAnswer,
  readRow,
  rowColumns,
  subjectOf,
  whatOf,
  writerColumns,
} from "./row.ts";

export async function read(db: Queries, key: MovementKey): Promise<KnownMovement | { kind: "none" }> {
  const row = await readRow(db, key);
  return row === undefined ? { kind: "none" } : knownOf(row);
}

/** Nothing was sent of the generation that the row gets, and nothing of it will be. */
function tombstone(nowMs: number): MovementChange {
  return { state: "buried", taken_at: new Date(nowMs).toISOString() };
}

/** What a tombstone takes away of a movement that is known not to be applied. */
const NOTHING: MovementChange = {
  ...NO_OUTCOME,
  decision: null,
  item_id: null,
  action: null,
  quantity: null,
  unit_price: null,
  branch: null,
};

const FREE = { token: null, settled_order: null, taken_order: nextOrder };

/** Puts a tombstone where nothing of the generation was taken. */
export async function readOrBury(db: Queries, request: ReadOrBuryRequest): Promise<KnownMovement | UnderWay> {
  checkGeneration(request.generation);
  const { generation, writer, nowMs } = request;
  const event = { what: "buried", generation, change: { generation, ...tombstone(nowMs) } };
  const found = await insertOrLock(db, request, writer, event);
  const buried = { kind: "superseded" as const, generation };
  if (found === undefined) return buried;
  const isOver = found.state === "not-applied" || found.state === "buried";
  if (found.state === "held") return await openAnswer(db, found);
  if (!isOver || found.generation >= generation) return knownOf(found);
  await changeRow(db, request, writer, { ...event, change: { ...event.change, ...NOTHING } }, FREE);
  return buried;
}

/** Closes all that nobody holds, with two statements for the rows and one for their events. */
export async function close(db: Queries, { keys, writer, nowMs }: CloseRequest): Promise<void> {
  const [first] = keys;
  if (!first) return;
  // In one order, so that two who close the same movements do not wait for each other.
  const references = keys.map(({ referenceId }) => storableText(referenceId)).toSorted();
  const { connection, business_id } = keyColumns(first);
  const by = writerColumns(writer);
  const buried = assignments({ ...rowColumns({ ...tombstone(nowMs), ...NOTHING }), ...FREE, ...by });
  const made = await sql<{ reference_id: string }>`
    insert into movements (connection, business_id, reference_id, generation, state, taken_at, workflow_id, run_id)
    select ${connection}, ${business_id}, reference_id, 1, 'buried', ${new Date(nowMs)}::timestamptz, ${sql.join(Object.values(by))}
    from unnest(${references}::text[]) with ordinality as one (reference_id, place) order by place
    on conflict (connection, business_id, reference_id) do nothing returning reference_id`.execute(db);
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
  const eventOf = (referenceId: string, generation: number, more: MovementChange = {}): NewEvent =>
    newEvent({ ...first, referenceId }, writer, {
      what: "buried",
      generation,
      change: { generation, ...tombstone(nowMs), ...more },
    });
  await appendEvents(db, first, [
    ...made.rows.map(({ reference_id }) => eventOf(reference_id, 1)),
    ...closed.rows.map(({ reference_id, generation }) => eventOf(reference_id, generation, NOTHING)),
  ]);
}

export async function history(db: Queries, key: MovementKey): Promise<ClaimEvent[]> {
  const rows = await db
    .selectFrom("events")
    .select(["at", "kind", "content"])
    .where((eb) => eb.and({ ...businessColumns(key), subject: subjectOf(key.referenceId) }))
    .orderBy("number")
    .execute();
  return rows.map(({ at, kind, content }) => ({
    atMs: at.getTime(),
    what: whatOf(kind),
    ...(JSON.parse(content) as Pick<ClaimEvent, "generation" | "change" | "detail">),
  }));
}
