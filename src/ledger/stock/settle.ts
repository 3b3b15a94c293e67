import { createHash } from "node:crypto";

import { sql } from "kysely";

import { decimalText, type MovementOutcome } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import { storableText } from "../storable-text.ts";
import { holdBranch } from "./branch-holds.ts";
import type { SettleRequest } from "./claims.ts";
import {
  changeRow,
  checkGeneration,
  lockRow,
  type MovementChange,
  newEvent,
  nextOrder,
  outcomeOf,
  type StockRow,
  update,
  writerOf,
  writeWithEvent,
} from "./row.ts";
import { tryOf } from "./take.ts";

export type SettleAnswer = "settled" | "contradicted" | "not-held";

/** What the service answered, without what an activity adds for its workflow. */
export function keptOutcome(outcome: MovementOutcome): MovementOutcome {
  if (outcome.kind !== "applied") return outcome;
  const { unsettled: _unsettled, ...answered } = outcome;
  return answered;
}

/** Whoever has the outcome of a try sends it no more. */
const OVER = { under_way_until: null, settled_order: nextOrder };

/**
 * The outcome of the try that holds the movement, in one statement.
 * @returns undefined where there is more to it; then nothing is written
 */
export async function settleHeld(db: Queries, request: SettleRequest): Promise<SettleAnswer | undefined> {
  checkGeneration(request.generation);
  const { generation, token, outcome, writer } = request;
  if (outcome.kind === "applied" && outcome.otherBranch) return undefined;
  const change = outcomeColumns(request);
  const isSettled = await writeWithEvent(
    db,
    request,
    sql`
      ${update(request, writer, change, OVER)} and generation = ${generation} and token = ${token} and state = 'held'
      returning generation`,
    newEvent(request, writer, { what: `settled-${outcome.kind}`, generation, change }),
  );
  return isSettled ? "settled" : undefined;
}

export async function settle(db: Queries, request: SettleRequest): Promise<SettleAnswer> {
  checkGeneration(request.generation);
  const { generation, token, outcome, writer } = request;
  if (outcome.kind === "applied" && outcome.otherBranch) await holdBranch(db, request, outcome.otherBranch);
  const row = await lockRow(db, request);
  if (row === undefined || !row.taken_by.includes(tryOf(generation, token))) {
    // What the service applied must be found again, whoever reports it.
    if (outcome.kind === "applied") await tellOnce(db, request, "settled-without-claim");
    return "not-held";
  }
  const isCurrent = row.generation === generation && row.token === token;
  const over = isCurrent ? { under_way_until: null } : {};
  const settled = async () => {
    const event = { what: `settled-${outcome.kind}`, generation, change: outcomeColumns(request) };
    await changeRow(db, request, writer, event, OVER);
    return "settled" as const;
  };
  if (isCurrent && row.state === "held") return await settled();
  const known = outcomeOf(row);
  if (outcome.kind === "not-applied") {
    // An older generation than the row's was given up as not applied; a newer one cannot have been taken.
    const isKnown = !isCurrent || row.state === "not-applied";
    return isKnown ? await isOver(db, request, row, over) : await dispute(db, request, row, over);
  }
  if (row.state === "applied" && isCurrent) {
    if (known?.kind === "applied" && known.movementId === outcome.movementId)
      return await isOver(db, request, row, over);
    // An operator had decided so; now the service's own words are there too.
    if (known === undefined) return await settled();
  }
  // The service applied it, whoever thought otherwise: a further try would apply it twice.
  if (row.state === "not-applied" || row.state === "buried")
    return await dispute(db, request, row, OVER, outcomeColumns(request));
  return await dispute(db, request, row, over);
}

/** It was known already. */
async function isOver(
  db: Queries,
  request: SettleRequest,
  row: StockRow,
  over: { under_way_until?: null },
): Promise<SettleAnswer> {
  if (row.under_way_until !== null && "under_way_until" in over)
    await update(request, writerOf(row), {}, over).execute(db);
  return "settled";
}

function outcomeColumns({ outcome }: SettleRequest): MovementChange {
  const { branchId, quantityOnHand } = outcome.kind === "applied" ? outcome : {};
  return {
    state: outcome.kind,
    outcome,
    branch_id: branchId === undefined ? null : storableText(branchId),
    quantity_on_hand: quantityOnHand === undefined ? null : decimalText(quantityOnHand),
  };
}

/** @param change what counts from now on */
async function dispute(
  db: Queries,
  request: SettleRequest,
  row: StockRow,
  columns: Record<string, unknown>,
  change: MovementChange = {},
): Promise<SettleAnswer> {
  const now = { ...change, ...(!row.disputed && { disputed: true }) };
  await update(request, writerOf(row), now, columns).execute(db);
  await tellOnce(db, request, "contradicted", now);
  return "contradicted";
}

/** A repeated report is no second event. */
async function tellOnce(db: Queries, request: SettleRequest, what: string, change?: MovementChange): Promise<void> {
  const { generation, token, outcome, writer } = request;
  const event = newEvent(request, writer, { what, generation, change, detail: outcome });
  // A digest: no event has the token.
  const one = canonicalJson([event.subject, generation, storableText(token), outcome, change?.state ?? null]);
  const key = `${event.kind} ${createHash("sha256").update(one).digest("hex")}`;
  await appendEvents(db, request, [{ ...event, key }]);
}
