import { ActivityFailure, condition, sleep, TimeoutFailure } from "@temporalio/workflow";

import type { AdjustStockResult, Branch, Refusal, StockMovement } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { evidenceOf, keyPauseMs, rootMessage } from "../run/answered.ts";
import { growingPauseMs } from "../run/growing-pause.ts";
import { park } from "../run/park.ts";

/**
 * Brings one movement to `applied` or `dropped`. It is sent at most once without an answer: an unknown outcome waits for a
 * person's word and is never repeated by itself (architecture, decision 6; failure model, POST stock adjustment).
 */
export async function applyMovement(work: Work, movement: StockMovement, branch?: Branch): Promise<void> {
  const { run } = work;
  const givenUp = (): boolean => run.stockHalted && movement.purpose === "sold";
  let refusedKeys = 0;
  for (let deferrals = 0; ;) {
    if (givenUp()) {
      movement.state = "dropped";
      run.stockMoved();
      return;
    }
    movement.state = "sending";
    movement.sentAtMs = Date.now();
    run.stockMoved();
    const result = await send(work, movement, branch);
    switch (result.kind) {
      case "applied":
        settle(work, movement, result);
        return;
      case "deferred":
        movement.state = "planned";
        run.stockMoved();
        await condition(givenUp, result.retryAfterMs ?? growingPauseMs(deferrals++));
        break;
      case "not-applied": {
        movement.state = "refused";
        if (result.refusal.attention === "credentials") {
          const pauseMs = keyPauseMs(refusedKeys++);
          await parkRefused(work, movement, result.refusal, "credentials", givenUp, pauseMs);
        } else if ((await parkRefused(work, movement, result.refusal, "stock-refused", givenUp)) === "acknowledged") {
          movement.state = "dropped";
          run.stockMoved();
          return;
        }
        break;
      }
      case "unknown":
        if (await decidedApplied(work, movement, result)) return;
    }
  }
}

function settle(work: Work, movement: StockMovement, result: Extract<AdjustStockResult, { kind: "applied" }>): void {
  movement.state = "applied";
  movement.movementId = result.movementId;
  movement.sentAtMs = result.sentAtMs;
  if (result.branchId !== undefined) movement.branchId = result.branchId;
  if (result.quantityOnHand !== undefined) movement.quantityOnHand = result.quantityOnHand;
  const { stockIo = "ok", stockMaster = "ok" } = result.report ?? {};
  work.run.stockMoved();
  if (stockIo === "ok" && stockMaster === "ok") return;
  movement.report = { stockIo, stockMaster };
  const message = `The movement ${result.movementId} was made, but its report says stockIo ${stockIo}, stockMaster ${stockMaster}.`;
  work.run.raise({ code: "stock-unreported", subject: movement.referenceId, message, evidence: { ...movement } });
}

async function parkRefused(
  work: Work,
  movement: StockMovement,
  refusal: Refusal,
  code: "stock-refused" | "credentials",
  until: () => boolean,
  pauseMs?: number,
) {
  const message = `${movement.action} ${movement.quantity} of ${movement.itemId}: ${refusal.message}`;
  const attention = { code, subject: movement.referenceId, message, ...evidenceOf(refusal) };
  return await park(work.run, attention, {
    until,
    ...(pauseMs !== undefined && { wake: () => sleep(pauseMs).then(() => true) }),
  });
}

/** True where a person says that it was applied; where not, it is sent again under the same reference. */
async function decidedApplied(
  work: Work,
  movement: StockMovement,
  result: Extract<AdjustStockResult, { kind: "unknown" }>,
): Promise<boolean> {
  movement.state = "unknown";
  delete movement.decision;
  const { itemId, action, quantity, unitPrice, sentAtMs, branchId } = movement;
  const sent = { itemId, action, quantity, unitPrice, sentAtMs, ...(branchId !== undefined && { branchId }) };
  const key = work.run.raise({
    code: "stock-unknown",
    subject: movement.referenceId,
    message: `${movement.action} ${movement.quantity} of ${movement.itemId} was sent, and no answer says whether it was applied. ${result.message}`,
    evidence: { ...sent, ...result.evidence },
  });
  const decision = (): StockMovement["decision"] => movement.decision;
  await condition(() => decision() !== undefined);
  const applied = decision()?.applied === true;
  if (applied) movement.state = "applied";
  work.run.clear(key);
  work.run.stockMoved();
  return applied;
}

async function send(work: Work, movement: StockMovement, branch?: Branch): Promise<AdjustStockResult> {
  const { calls, target } = work;
  const { referenceId, itemId, action, quantity, unitPrice } = movement;
  try {
    return await calls.unrepeatableWrite.adjustStock({
      ...target,
      referenceId,
      itemId,
      action,
      quantity,
      unitPrice,
      ...(branch && { branch }),
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message = rootMessage(error);
    // No worker took the task: nothing was sent.
    if (error.cause instanceof TimeoutFailure && error.cause.timeoutType === "SCHEDULE_TO_START") {
      return { kind: "deferred", message };
    }
    return { kind: "unknown", message: `The call ended without an answer: ${message}.`, evidence: {} };
  }
}
