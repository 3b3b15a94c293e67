import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { insertRowFrom } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import { isHeld, openHold } from "./branch-holds.ts";
import type { TakeAnswer, TakeRequest } from "./claims.ts";
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
  recordEvent,
  type StockRow,
  supersededAnswer,
  unknownAnswer,
  updateRow,
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
    const answer = row && answerFor(request, row);
    return answer ?? { kind: "branch-held", hold };
  }
  const found = await insertOrLock(db, request, claim);
  if (found !== undefined) {
    const answer = answerFor(request, found);
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
  const { generation, token, movement, nowMs } = request;
  const claim = {
    generation,
    token,
    state: "held" as const,
    ...movementColumns(movement),
    holder: storableText(request.holder),
    taken_at: new Date(nowMs),
  };
  const detail = { movement, holder: claim.holder, nowMs };
  return { claim, event: { generation, token, what: "taken", detail } };
}

/** Undefined: it is known not to be applied, and may be taken. */
function answerFor({ generation, token, movement, holder }: TakeRequest, row: StockRow): TakeAnswer | undefined {
  const claimed = movementOf(row);
  if (row.state === "not-applied" || row.state === "buried") {
    return generation > row.generation ? undefined : supersededAnswer(row);
  }
  if (claimed && !isSameMovement(claimed, movement)) return { kind: "different", claimed, state: row.state };
  if (row.state === "applied") return appliedAnswer(row);
  // A reset hands the activity under way on to the new run, with its token: the holder tells the two apart.
  const isOurs = row.generation === generation && row.token === token && row.holder === storableText(holder);
  return isOurs ? { kind: "taken" } : unknownAnswer(row);
}
