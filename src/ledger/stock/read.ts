import type { KnownMovement } from "../../contract/index.ts";
import type { UnderWay } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import type { NewEvent } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import type { ClaimEvent, CloseRequest, MovementKey, ReadOrBuryRequest } from "./claims.ts";
import {
  checkGeneration,
  insertOrLock,
  knownOf,
  lockRow,
  type MovementChange,
  type MovementEvent,
  newEvent,
  nextOrder,
  NO_OUTCOME,
  openAnswer,
  readRow,
  subjectOf,
  update,
  whatOf,
} from "./row.ts";

export async function read(db: Queries, key: MovementKey): Promise<KnownMovement | { kind: "none" }> {
  const row = await readRow(db, key);
  return row === undefined ? { kind: "none" } : knownOf(row);
}

export async function readOrBury(db: Queries, request: ReadOrBuryRequest): Promise<KnownMovement | UnderWay> {
  const { answer, event } = await bury(db, request);
  await appendEvents(db, request, event);
  return answer;
}

interface Buried {
  answer: KnownMovement | UnderWay;
  /** To be appended; none where nothing was changed, or where it was appended already. */
  event: NewEvent[];
}

/** Puts a tombstone where nothing of the generation was taken. */
async function bury(db: Queries, request: ReadOrBuryRequest): Promise<Buried> {
  checkGeneration(request.generation);
  const { generation, writer, nowMs } = request;
  const takenAt = { taken_at: new Date(nowMs).toISOString() };
  const tombstone: MovementChange = { generation, state: "buried", ...takenAt };
  const event: MovementEvent & { change: MovementChange } = { what: "buried", generation, change: tombstone };
  const found = await insertOrLock(db, request, writer, event);
  const buried = { kind: "superseded" as const, generation };
  if (found === undefined) return { answer: buried, event: [] };
  const isOver = found.state === "not-applied" || found.state === "buried";
  if (found.state === "held") return { answer: await openAnswer(db, found), event: [] };
  if (!isOver || found.generation >= generation) return { answer: knownOf(found), event: [] };
  const nothing = { item_id: null, action: null, quantity: null, unit_price: null, branch: null };
  const change: MovementChange = { ...tombstone, ...NO_OUTCOME, decision: null, ...nothing };
  const columns = { token: null, settled_order: null, taken_order: nextOrder };
  await update(request, writer, change, columns).execute(db);
  return { answer: buried, event: [newEvent(request, writer, { ...event, change })] };
}

export async function close(db: Queries, { keys, writer, nowMs }: CloseRequest): Promise<void> {
  // In one order, so that two who close the same movements do not wait for each other.
  const inOrder = keys.toSorted((one, other) => (one.referenceId < other.referenceId ? -1 : 1));
  const events: [MovementKey, NewEvent[]][] = [];
  for (const key of inOrder) {
    const generation = ((await lockRow(db, key))?.generation ?? 0) + 1;
    const { event } = await bury(db, { ...key, generation, writer, nowMs });
    events.push([key, event]);
  }
  // Last: whoever has appended holds the chain of the business, and must wait for no row.
  for (const [key, event] of events) await appendEvents(db, key, event);
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
