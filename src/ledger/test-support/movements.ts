import { randomUUID } from "node:crypto";
import {
  type AppliedMovement,
  nairobiAndUtcTime,
  type TakingExecution,
  type UnknownOutcome,
} from "../../contract/index.ts";
import type { BeginRequest } from "../documents/claims.ts";
import type { ClaimedMovement, MovementKey, TakeRequest } from "../index.ts";

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
export function heldBy({ holder, nowMs }: Pick<TakeRequest, "holder" | "nowMs">, generation: number): UnknownOutcome {
  const takenAt = new Date(nowMs).toISOString();
  const message = `It was taken to be sent at ${nairobiAndUtcTime(nowMs)}, and no outcome was written down.`;
  return { kind: "unknown", generation, message, evidence: { takenAt, takenBy: holder, sentAtMs: nowMs } };
}

/** A movement that no other test has. */
export function keyOf(): MovementKey {
  return { ...KEY, referenceId: `ref-${randomUUID()}` };
}

/** An execution that no other test has, and that is over: the next try may follow at once. A key lives for a day. */
export function taking(): TakingExecution & Pick<BeginRequest, "repeatableForMs"> {
  return { execution: randomUUID(), underWayForMs: 0, repeatableForMs: 86_400_000 };
}

/** The first try of a movement that no other test has. */
export function firstTry(): TakeRequest {
  return {
    ...keyOf(),
    generation: 1,
    token: randomUUID(),
    ...taking(),
    movement: MOVEMENT,
    holder: "sale/default/biz_1/INV-1 run-1",
    nowMs: 1_700_000_000_000,
  };
}
