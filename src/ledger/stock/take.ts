import { type RawBuilder, sql } from "kysely";

import { untilItIsOver } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import { isHeld, openHold } from "./branch-holds.ts";
import type { StockClaims, TakeAnswer, TakeRequest } from "./claims.ts";
import {
  appliedAnswer,
  changeRow,
  checkGeneration,
  checkMovement,
  insertion,
  insertOrLock,
  isSameMovement,
  lockRow,
  type MovementChange,
  movementColumns,
  movementOf,
  newEvent,
  nextOrder,
  NO_OUTCOME,
  openAnswer,
  originColumns,
  type StockRow,
  supersededAnswer,
  UNLESS_THERE,
  whereKey,
  writeWithEvent,
} from "./row.ts";

/**
 * The states of a movement, and who moves it on:
 *
 * - none → held (take), buried (readOrBury), applied or not-applied (decide)
 * - held → applied, not-applied (settle, decide)
 * - not-applied, buried → held again under a higher generation (take); applied (a late settle, decide)
 * - applied is the end
 */
export async function take(db: Queries, request: TakeRequest): Promise<TakeAnswer> {
  const { change, columns } = heldBy(request);
  const { connection, branchSentAs, writer, generation } = request;
  const hold = branchSentAs === undefined ? undefined : await openHold(db, connection, branchSentAs);
  // What is claimed already may have left: its claim tells what became of it.
  if (hold) {
    const row = await lockRow(db, request);
    const answer = row && (await standing(db, request, row));
    return answer ?? { kind: "branch-held", hold };
  }
  const event = { what: "taken", generation, change };
  const found = await insertOrLock(db, request, writer, event, columns);
  if (found === undefined) return { kind: "taken" };
  const answer = await standing(db, request, found);
  if (answer !== undefined) return answer;
  const again = { ...columns, ...takenBy(request, found), settled_order: null, taken_order: nextOrder };
  await changeRow(db, request, writer, { ...event, change: { ...change, ...NO_OUTCOME } }, again);
  return { kind: "taken" };
}

/**
 * A movement that nobody has claimed, and that nothing holds back, in one statement.
 * @returns undefined where it is not so; then nothing is written
 */
export async function takeFirst(db: Queries, request: TakeRequest): Promise<TakeAnswer | undefined> {
  const { change, columns } = heldBy(request);
  const { connection, branchSentAs, writer, generation } = request;
  const isTaken = await writeWithEvent(
    db,
    request,
    sql`
      ${insertion(request, writer, change, columns)}
      where not ${branchSentAs === undefined ? sql`false` : isHeld(connection, branchSentAs)} ${UNLESS_THERE}`,
    newEvent(request, writer, { what: "taken", generation, change }),
  );
  return isTaken ? { kind: "taken" } : undefined;
}

/** What is written where nothing stands in the way. */
function heldBy(request: TakeRequest): { change: MovementChange; columns: Record<string, unknown> } {
  checkGeneration(request.generation);
  checkMovement(request.movement);
  const { generation, token, execution, movement, of, nowMs } = request;
  const change = {
    generation,
    state: "held" as const,
    ...originColumns(of),
    ...movementColumns(movement),
    taken_at: new Date(nowMs).toISOString(),
  };
  const by = { token, execution, under_way_until: untilItIsOver(request.underWayForMs) };
  return { change, columns: { ...by, ...takenBy(request) } };
}

/** @param before the row as others have left it */
function takenBy(
  { generation, token }: Pick<TakeRequest, "generation" | "token">,
  before?: StockRow,
): { taken_by: RawBuilder<string[]> } {
  const all = [...(before?.taken_by ?? []), tryOf(generation, token)];
  return { taken_by: sql`${all}::text[]` };
}

/** A try, as the row keeps it for as long as there is a row. */
export function tryOf(generation: number, token: string): string {
  return `${generation} ${storableText(token)}`;
}

/**
 * What is known of the movement; undefined: it is known not to be applied, and may be taken. A reset hands the activity
 * under way on to the new run, with its token: the writer tells the two apart.
 */
async function standing(db: Queries, request: TakeRequest, row: StockRow): Promise<TakeAnswer | undefined> {
  const { generation, token, unsent = [], execution, movement, writer } = request;
  const claimed = movementOf(row);
  if (row.state === "not-applied" || row.state === "buried")
    return generation > row.generation ? undefined : supersededAnswer(row);
  if (claimed && !isSameMovement(claimed, movement)) return { kind: "different", claimed, state: row.state };
  if (row.state === "applied") return appliedAnswer(row);
  const isOfRun = row.workflow_id === storableText(writer.workflowId) && row.run_id === storableText(writer.runId);
  const isSameTry = row.generation === generation && row.token === token && isOfRun;
  if (!isSameTry || row.execution === null) return await openAnswer(db, row);
  // The very call that is kept: its acknowledgement was lost, so nothing was sent on the strength of it.
  if (row.execution === execution) return { kind: "taken" };
  // Another execution of the same activity may have sent it.
  if (!unsent.includes(row.execution)) return await openAnswer(db, row);
  const by = { execution, under_way_until: untilItIsOver(request.underWayForMs) };
  await changeRow(db, request, writer, { what: "taken-again", generation }, by);
  return { kind: "taken" };
}

export async function ended(db: Queries, request: Parameters<StockClaims["ended"]>[0]): Promise<void> {
  const { generation, token, execution } = request;
  await db
    .updateTable("movements")
    .set({ under_way_until: null })
    .where(whereKey(request))
    .where((eb) => eb.and({ generation, token, execution }))
    .execute();
}
