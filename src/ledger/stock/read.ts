import type { KnownMovement } from "../../contract/index.ts";
import type { UnderWay } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import type { ClaimEvent, MovementKey } from "./claims.ts";
import {
  checkGeneration,
  insertOrLock,
  knownOf,
  nextOrder,
  NO_OUTCOME,
  openAnswer,
  readRow,
  recordEvent,
  updateRow,
  whereKey,
} from "./row.ts";

export async function read(db: Queries, key: MovementKey): Promise<KnownMovement | { kind: "none" }> {
  const row = await readRow(db, key);
  return row === undefined ? { kind: "none" } : knownOf(row);
}

export async function readOrBury(
  db: Queries,
  request: MovementKey & { generation: number; nowMs: number },
): Promise<KnownMovement | UnderWay> {
  checkGeneration(request.generation);
  const { generation } = request;
  const tombstone = { generation, token: null, state: "buried" as const, taken_at: new Date(request.nowMs) };
  const found = await insertOrLock(db, request, tombstone);
  if (found !== undefined) {
    const isOver = found.state === "not-applied" || found.state === "buried";
    if (found.state === "held") return await openAnswer(db, found);
    if (!isOver || found.generation >= generation) return knownOf(found);
    await updateRow(db, request, {
      ...tombstone,
      ...NO_OUTCOME,
      taken_order: nextOrder,
      item_id: null,
      action: null,
      quantity: null,
      unit_price: null,
      branch: null,
      holder: null,
    });
  }
  await recordEvent(db, request, { generation, what: "buried", detail: { nowMs: request.nowMs } });
  return { kind: "superseded", generation };
}

export async function close(db: Queries, keys: readonly MovementKey[], nowMs: number): Promise<void> {
  // In one order, so that two who close the same movements do not wait for each other.
  for (const key of keys.toSorted((one, other) => (one.referenceId < other.referenceId ? -1 : 1))) {
    const generation = ((await readRow(db, key))?.generation ?? 0) + 1;
    await readOrBury(db, { ...key, generation, nowMs });
  }
}

export async function history(db: Queries, key: MovementKey): Promise<ClaimEvent[]> {
  const rows = await db
    .selectFrom("stock_claim_events")
    .select(["at", "generation", "token", "what", "detail"])
    .where(whereKey(key))
    .orderBy("id")
    .execute();
  return rows.map(({ at, generation, token, what, detail }) => ({
    atMs: at.getTime(),
    generation,
    ...(token === null ? {} : { token }),
    what,
    ...(detail === null ? {} : { detail }),
  }));
}
