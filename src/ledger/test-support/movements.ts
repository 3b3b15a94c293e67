import { randomUUID } from "node:crypto";
import {
  type AppliedMovement,
  type MovementOrigin,
  nairobiAndUtcTime,
  type StockMovement,
  type TakingExecution,
  type UnknownOutcome,
} from "../../contract/index.ts";
import type { TakeDocumentRequest } from "../documents/take.ts";
import type { ClaimedMovement, MovementKey, StockClaims, TakeRequest } from "../index.ts";

const KEY = { connection: "default", businessId: "biz_1" };
export const MOVEMENT: ClaimedMovement = { itemId: "item_1", action: "DEDUCT", quantity: 2.5, unitPrice: 350.1 };
export const APPLIED: AppliedMovement = {
  kind: "applied",
  movementId: "mov_1",
  branchId: "00",
  quantityOnHand: 97.5,
  report: { stockIo: "ok" },
  sentAtMs: 1_700_000_000_123,
};
export const NOT_APPLIED = { kind: "not-applied" as const, message: "refused: no such item" };

/** What is answered of a movement that is taken, and has no outcome. */
export function heldBy({ writer, nowMs }: Pick<TakeRequest, "writer" | "nowMs">, generation: number): UnknownOutcome {
  const holder = `${writer.workflowId} (run ${writer.runId})`;
  const takenAt = new Date(nowMs).toISOString();
  const message = `It was taken to be sent at ${nairobiAndUtcTime(nowMs)}, and no outcome was written down.`;
  return { kind: "unknown", generation, message, evidence: { takenAt, takenBy: holder, sentAtMs: nowMs } };
}

/** A movement that no other test has. */
export function keyOf(): MovementKey {
  return { ...KEY, referenceId: `ref-${randomUUID()}` };
}

/** An execution that no other test has, and that is over: the next try may follow at once. A key lives for a day. */
export function taking(): TakingExecution & Pick<TakeDocumentRequest, "repeatableForMs"> {
  return {
    execution: randomUUID(),
    underWayForMs: 0,
    scheduledAtMs: 1_700_000_000_000,
    repeatableForMs: 86_400_000,
  };
}

/** Takes a movement of a document, and settles it, as its state says. */
export async function bookMovement(
  stock: StockClaims,
  business: Pick<MovementKey, "connection" | "businessId">,
  document: Pick<MovementOrigin, "type" | "number">,
  movement: StockMovement,
): Promise<void> {
  const { referenceId, purpose, undoes, itemId, action, quantity, unitPrice, state, decision } = movement;
  const of = { ...document, purpose, undoes };
  const moved = { itemId, action, quantity, unitPrice };
  const request: TakeRequest = { ...firstTry(), ...business, referenceId, of, movement: moved };
  if (state === "planned" || state === "dropped") return;
  await stock.take(request);
  if (decision) await stock.decide({ ...request, decision });
  else if (state === "applied") await stock.settle({ ...request, outcome: APPLIED });
  else if (state === "refused") await stock.settle({ ...request, outcome: NOT_APPLIED });
}

/** The first try of a movement that no other test has. */
export function firstTry(): TakeRequest {
  return {
    ...keyOf(),
    generation: 1,
    token: randomUUID(),
    ...taking(),
    movement: MOVEMENT,
    of: { type: "sale", number: "INV-1", purpose: "sold" },
    writer: { workflowId: "sale/default/biz_1/INV-1", runId: "run-1" },
    nowMs: 1_700_000_000_000,
  };
}
