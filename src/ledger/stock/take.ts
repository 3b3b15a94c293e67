import { sql } from "kysely";

import { untilItIsOver } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import { insertRowFrom } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import { isHeld, openHold } from "./branch-holds.ts";
import type { StockClaims, TakeAnswer, TakeRequest } from "./claims.ts";
import {
  appliedAnswer,
  checkGeneration,
  checkMovement,
  insertOrLock,
  isSameMovement,
  keyColumns,
  lockRow,
  movementColumns,
  movementOf,
  nextOrder,
  NO_OUTCOME,
  openAnswer,
  recordEvent,
  type StockRow,
  supersededAnswer,
  updateRow,
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
  const { claim, event } = firstOf(request);
  const { connection, branchSentAs } = request;
  const hold = branchSentAs === undefined ? undefined : await openHold(db, connection, branchSentAs);
  // What is claimed already may have left: its claim tells what became of it.
  if (hold) {
    const row = await lockRow(db, request);
    const answer = row && (await standing(db, request, row));
    return answer ?? { kind: "branch-held", hold };
  }
  const found = await insertOrLock(db, request, claim);
  if (found !== undefined) {
    const answer = await standing(db, request, found);
    if (answer !== undefined) return answer;
    await updateRow(db, request, { ...claim, ...NO_OUTCOME, taken_order: nextOrder });
  }
  await recordEvent(db, request, event);
  return { kind: "taken" };
}

/**
 * A movement that nobody has claimed, and that nothing holds back, in one statement.
 * @returns undefined where it is not so; then nothing is written
 */
export async function takeFirst(db: Queries, request: TakeRequest): Promise<TakeAnswer | undefined> {
  const { claim, event } = firstOf(request);
  const { connection, branchSentAs } = request;
  const row = { ...keyColumns(request), ...claim };
  const isTaken = await writeWithEvent(
    db,
    request,
    sql`
      ${insertRowFrom("stock_claims", row)}
      where not ${branchSentAs === undefined ? sql`false` : isHeld(connection, branchSentAs)}
      on conflict (connection, business_id, reference_id) do nothing returning generation`,
    event,
  );
  return isTaken ? { kind: "taken" } : undefined;
}

/** What is written where nothing stands in the way. */
function firstOf(request: TakeRequest) {
  checkGeneration(request.generation);
  checkMovement(request.movement);
  const { generation, token, execution, movement, nowMs } = request;
  const claim = {
    generation,
    token,
    execution,
    under_way_until: untilItIsOver(request.underWayForMs),
    state: "held" as const,
    ...movementColumns(movement),
    holder: storableText(request.holder),
    taken_at: new Date(nowMs),
  };
  const detail = { movement, holder: claim.holder, execution, nowMs };
  return { claim, event: { generation, token, what: "taken", detail } };
}

/**
 * What is known of the movement; undefined: it is known not to be applied, and may be taken. A reset hands the activity
 * under way on to the new run, with its token: the holder tells the two apart.
 */
async function standing(db: Queries, request: TakeRequest, row: StockRow): Promise<TakeAnswer | undefined> {
  const { generation, token, unsent = [], execution, movement, holder } = request;
  const claimed = movementOf(row);
  if (row.state === "not-applied" || row.state === "buried")
    return generation > row.generation ? undefined : supersededAnswer(row);
  if (claimed && !isSameMovement(claimed, movement)) return { kind: "different", claimed, state: row.state };
  if (row.state === "applied") return appliedAnswer(row);
  const isSameTry = row.generation === generation && row.token === token && row.holder === storableText(holder);
  if (!isSameTry || row.execution === null) return await openAnswer(db, row);
  // The very call that is kept: its acknowledgement was lost, so nothing was sent on the strength of it.
  if (row.execution === execution) return { kind: "taken" };
  // Another execution of the same activity may have sent it.
  if (!unsent.includes(row.execution)) return await openAnswer(db, row);
  await updateRow(db, request, { execution, under_way_until: untilItIsOver(request.underWayForMs) });
  await recordEvent(db, request, { generation, token, what: "taken-again", detail: { execution } });
  return { kind: "taken" };
}

export async function ended(db: Queries, request: Parameters<StockClaims["ended"]>[0]): Promise<void> {
  const { generation, token, execution } = request;
  await db
    .updateTable("stock_claims")
    .set({ under_way_until: null })
    .where(whereKey(request))
    .where((eb) => eb.and({ generation, token, execution }))
    .execute();
}
