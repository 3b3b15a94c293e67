import { sql } from "kysely";

import type { MovementOutcome } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { holdBranch } from "./branch-holds.ts";
import type { SettleRequest } from "./claims.ts";
import {
  checkGeneration,
  lockRow,
  nextOrder,
  outcomeOf,
  recordEvent,
  type StockRow,
  toJson,
  updateRow,
  whereKey,
  writeWithEvent,
} from "./row.ts";

export type SettleAnswer = "settled" | "contradicted" | "not-held";

/** What the service answered, without what an activity adds for its workflow. */
export function keptOutcome(outcome: MovementOutcome): MovementOutcome {
  if (outcome.kind !== "applied") return outcome;
  const { unsettled: _unsettled, recorded: _recorded, ...answered } = outcome;
  return answered;
}

/**
 * The outcome of the try that holds the movement, in one statement.
 * @returns undefined where there is more to it; then nothing is written
 */
export async function settleHeld(db: Queries, request: SettleRequest): Promise<SettleAnswer | undefined> {
  checkGeneration(request.generation);
  const { generation, token, outcome } = request;
  if (outcome.kind === "applied" && outcome.otherBranch) return undefined;
  const { branch_id, quantity_on_hand, ...answered } = outcomeColumns(request);
  const isSettled = await writeWithEvent(
    db,
    request,
    sql`
      update stock_claims
      set state = ${answered.state}, outcome = ${answered.outcome}, settled_order = ${answered.settled_order},
        branch_id = ${branch_id}, quantity_on_hand = ${quantity_on_hand}, under_way_until = null
      where ${whereKey(request)} and generation = ${generation} and token = ${token} and state = 'held'
      returning generation`,
    { ...eventOf(request), what: `settled-${outcome.kind}` },
  );
  return isSettled ? "settled" : undefined;
}

export async function settle(db: Queries, request: SettleRequest): Promise<SettleAnswer> {
  checkGeneration(request.generation);
  const { generation, token, outcome } = request;
  const event = eventOf(request);
  if (outcome.kind === "applied" && outcome.otherBranch) await holdBranch(db, request, outcome.otherBranch);
  const row = await lockRow(db, request);
  if (row === undefined || !(await everTook(db, request, row))) {
    // What the service applied must be found again, whoever reports it.
    if (outcome.kind === "applied") await recordOnce(db, request, "settled-without-claim");
    return "not-held";
  }
  const isCurrent = row.generation === generation && row.token === token;
  // Whoever has the outcome of a try sends it no more.
  if (isCurrent && row.under_way_until !== null) await updateRow(db, request, { under_way_until: null });
  if (isCurrent && row.state === "held") {
    await updateRow(db, request, outcomeColumns(request));
    await recordEvent(db, request, { ...event, what: `settled-${outcome.kind}` });
    return "settled";
  }
  const known = outcomeOf(row);
  if (outcome.kind === "not-applied") {
    // An older generation than the row's was given up as not applied; a newer one cannot have been taken.
    if (!isCurrent || row.state === "not-applied") return "settled";
    await dispute(db, request);
    return "contradicted";
  }
  if (row.state === "applied" && isCurrent) {
    if (known?.kind === "applied" && known.movementId === outcome.movementId) return "settled";
    if (known === undefined) {
      // An operator had decided so; now the service's own words are there too.
      await updateRow(db, request, outcomeColumns(request));
      await recordEvent(db, request, { ...event, what: "settled-applied" });
      return "settled";
    }
  }
  await dispute(db, request);
  // The service applied it, whoever thought otherwise: a further try would apply it twice.
  if (row.state === "not-applied" || row.state === "buried") await updateRow(db, request, outcomeColumns(request));
  return "contradicted";
}

function eventOf({ generation, token, outcome }: SettleRequest) {
  return { generation, token, detail: outcome };
}

function outcomeColumns({ outcome }: SettleRequest) {
  return {
    state: outcome.kind,
    outcome: toJson(outcome),
    settled_order: nextOrder,
    branch_id: outcome.kind === "applied" ? (outcome.branchId ?? null) : null,
    quantity_on_hand: outcome.kind === "applied" ? (outcome.quantityOnHand ?? null) : null,
  };
}

async function dispute(db: Queries, request: SettleRequest): Promise<void> {
  await updateRow(db, request, { disputed: true });
  await recordOnce(db, request, "contradicted");
}

/** A repeated report is no second event. */
async function recordOnce(db: Queries, request: SettleRequest, what: string): Promise<void> {
  const { generation, token, outcome } = request;
  const events = await db
    .selectFrom("stock_claim_events")
    .select("detail")
    .where(whereKey(request))
    .where("token", "=", token)
    .where("generation", "=", generation)
    .where("what", "=", what)
    .execute();
  if (events.some(({ detail }) => JSON.stringify(detail) === JSON.stringify(outcome))) return;
  await recordEvent(db, request, { generation, token, what, detail: outcome });
}

/** Did this try ever hold the movement? The row knows of the newest alone. */
async function everTook(db: Queries, request: SettleRequest, row: StockRow): Promise<boolean> {
  if (row.generation === request.generation && row.token === request.token) return true;
  const taken = await db
    .selectFrom("stock_claim_events")
    .select("id")
    .where(whereKey(request))
    .where("generation", "=", request.generation)
    .where("token", "=", request.token)
    .where("what", "=", "taken")
    .executeTakeFirst();
  return taken !== undefined;
}
