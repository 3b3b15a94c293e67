import type { KnownMovement } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { cleanText } from "../storable-text.ts";
import type { DecideRequest, Decision } from "./claims.ts";
import {
  checkGeneration,
  checkMovement,
  keyColumns,
  knownOf,
  lockRow,
  movementColumns,
  nextOrder,
  outcomeOf,
  recordEvent,
  type StockRow,
  toJson,
  updateRow,
} from "./row.ts";

export async function decide(db: Queries, request: DecideRequest): Promise<"decided" | KnownMovement> {
  checkGeneration(request.generation);
  checkMovement(request.movement);
  const { generation, applied } = request;
  const { note, by, atMs } = request.word;
  const decision: Decision = {
    applied,
    note: cleanText(note),
    ...(by === undefined ? {} : { by: cleanText(by) }),
    atMs,
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
      taken_at: new Date(atMs),
    })
    .onConflict((conflict) => conflict.columns(["connection", "business_id", "reference_id"]).doNothing())
    .returning("generation")
    .executeTakeFirst();
  if (inserted === undefined) {
    const row = await lockRow(db, request);
    if (row === undefined) throw new Error("a claim vanished: rows are never deleted");
    const standing = standingOf(row, request);
    if (standing === "same-word") return "decided";
    if (standing !== "open") {
      const detail = { ...decision, known: `already-${standing}` };
      await recordEvent(db, request, { generation, what: "decision-refused", detail });
      if (standing === "not-applied" && applied) await updateRow(db, request, { disputed: true });
      return knownOf(row);
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

/** What is known of the try that the word is about. `open`: the word counts. */
function standingOf(
  row: StockRow,
  { generation, applied }: DecideRequest,
): "open" | "same-word" | "applied" | "not-applied" {
  if (row.state === "held") {
    // A newer try exists only where the one that is decided about was known not to be applied.
    return row.generation > generation ? "not-applied" : "open";
  }
  if (row.state === "applied") return outcomeOf(row) === undefined && applied ? "same-word" : "applied";
  if (row.generation < generation) return "open";
  if (row.generation > generation) return "not-applied";
  if (row.state === "buried") return "open";
  return outcomeOf(row) === undefined && !applied ? "same-word" : "not-applied";
}
