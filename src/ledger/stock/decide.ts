import type { Queries } from "../database.ts";
import { cleanText } from "../storable-text.ts";
import type { DecideRequest, Decision } from "./claims.ts";
import {
  checkGeneration,
  checkMovement,
  keyColumns,
  lockRow,
  movementColumns,
  nextOrder,
  outcomeOf,
  recordEvent,
  type StockRow,
  toJson,
  updateRow,
} from "./row.ts";

type Answer = "decided" | "already-applied" | "already-not-applied";

export async function decide(db: Queries, request: DecideRequest): Promise<Answer> {
  checkGeneration(request.generation);
  checkMovement(request.movement);
  const { generation, applied } = request;
  const decision: Decision = {
    applied,
    note: cleanText(request.note),
    ...(request.by === undefined ? {} : { by: cleanText(request.by) }),
    atMs: request.nowMs,
  };
  const state = applied ? ("applied" as const) : ("not-applied" as const);
  const word = { state, decision: toJson(decision) };
  const inserted = await db
    .insertInto("stock_claims")
    .values({
      ...keyColumns(request),
      ...word,
      generation,
      ...movementColumns(request.movement),
      holder: cleanText(request.holder),
      taken_at: new Date(request.nowMs),
    })
    .onConflict((conflict) => conflict.columns(["connection", "business_id", "reference_id"]).doNothing())
    .returning("generation")
    .executeTakeFirst();
  if (inserted === undefined) {
    const row = await lockRow(db, request);
    if (row === undefined) throw new Error("a claim vanished: rows are never deleted");
    const known = answerFor(row, request);
    if (known !== undefined) {
      if (known !== "decided") {
        await recordEvent(db, request, { generation, what: "decision-refused", detail: { ...decision, known } });
        if (known === "already-not-applied" && applied) await updateRow(db, request, { disputed: true });
      }
      return known;
    }
    await updateRow(db, request, {
      ...word,
      generation: Math.max(generation, row.generation),
      settled_order: nextOrder,
      // A tombstone, and a generation that never left, know no movement.
      ...(row.state === "held" ? {} : { ...movementColumns(request.movement), holder: cleanText(request.holder) }),
      ...(row.state === "held" ? {} : { outcome: null, branch_id: null, quantity_on_hand: null }),
    });
  }
  const detail = { ...decision, holder: cleanText(request.holder) };
  await recordEvent(db, request, { generation, what: `decided-${state}`, detail });
  return "decided";
}

/** Undefined: the word counts. */
function answerFor(row: StockRow, { generation, applied }: DecideRequest): Answer | undefined {
  if (row.state === "held") {
    // A newer try exists only where the one that is decided about was known not to be applied.
    return row.generation > generation ? "already-not-applied" : undefined;
  }
  if (row.state === "applied") {
    const bySamePerson = outcomeOf(row) === undefined && applied;
    return bySamePerson ? "decided" : "already-applied";
  }
  if (row.generation < generation) return undefined;
  if (row.generation > generation) return "already-not-applied";
  if (row.state === "buried") return undefined;
  return outcomeOf(row) === undefined && !applied ? "decided" : "already-not-applied";
}
