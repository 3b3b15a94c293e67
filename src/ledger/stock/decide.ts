import type { KnownMovement } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import { cleanText } from "../storable-text.ts";
import type { DecideRequest, Decision } from "./claims.ts";
import {
  changeRow,
  checkGeneration,
  checkMovement,
  insertOrLock,
  knownOf,
  type MovementChange,
  movementColumns,
  newEvent,
  nextOrder,
  outcomeOf,
  type StockRow,
  update,
  writerOf,
} from "./row.ts";

export async function decide(db: Queries, request: DecideRequest): Promise<"decided" | KnownMovement> {
  checkGeneration(request.generation);
  checkMovement(request.movement);
  const { generation, applied, writer } = request;
  const decision = decisionOf(request);
  const state = applied ? ("applied" as const) : ("not-applied" as const);
  const what = `decided-${state}`;
  const word: MovementChange = { state, decision };
  const movement = movementColumns(request.movement);
  const first = { ...word, generation, ...movement, taken_at: new Date(request.word.atMs).toISOString() };
  const row = await insertOrLock(db, request, writer, { what, generation, change: first });
  if (row === undefined) return "decided";
  const standing = standingOf(row, request);
  if (standing === "same-word") return "decided";
  if (standing !== "open") {
    const isDisputed = standing === "not-applied" && applied && !row.disputed;
    const change = isDisputed ? { disputed: true } : undefined;
    if (change) await update(request, writerOf(row), change).execute(db);
    const detail = { ...decision, known: `already-${standing}` };
    await appendEvents(db, request, [
      newEvent(request, writer, { what: "decision-refused", generation, change, detail }),
    ]);
    return knownOf(row);
  }
  // A tombstone, and a generation that never left, know no movement.
  const anew = row.state === "held" ? {} : { ...movement, outcome: null, branch_id: null, quantity_on_hand: null };
  const change = { ...word, generation: Math.max(generation, row.generation), ...anew };
  await changeRow(db, request, writer, { what, generation, change }, { settled_order: nextOrder });
  return "decided";
}

function decisionOf({ applied, word: { note, by, atMs }, contradicts }: DecideRequest): Decision {
  return {
    applied,
    note: cleanText(note),
    ...(by !== undefined && { by: cleanText(by) }),
    atMs,
    ...(contradicts && { contradicts }),
  };
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
