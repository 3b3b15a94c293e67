import { ActivityFailure, TimeoutFailure } from "@temporalio/workflow";

import type { AdjustStockResult, Branch, StockMovement } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { ledger } from "../proxies.ts";
import { rootMessage } from "../run/answered.ts";
import type { MovementTries } from "./movement-tries.ts";

/**
 * Sends one try. Where its activity ends without an answer, the claim tells what became of it: never taken means never sent, a written
 * outcome is the answer, and a claim without outcome is unknown (architecture, decision 6).
 */
export async function sendMovement(
  { run, calls, target }: Work,
  movement: StockMovement,
  tries: MovementTries,
  branch: Branch | undefined,
): Promise<AdjustStockResult> {
  const { referenceId, itemId, action, quantity, unitPrice } = movement;
  const asked = { referenceId, itemId, action, quantity, unitPrice };
  const record = run.records?.beside(movement);
  try {
    return await calls.unrepeatableWrite.adjustStock({
      ...target,
      ...asked,
      ...(branch && { branch }),
      claim: tries.claim,
      ...(record && { record }),
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message = rootMessage(error);
    // No worker took the task: nothing was sent.
    if (error.cause instanceof TimeoutFailure && error.cause.timeoutType === "SCHEDULE_TO_START") {
      return { kind: "deferred", sameTry: true, message };
    }
    const said = `The call ended without an answer: ${message}.`;
    const found = await ledger.readMovement({ ...target, referenceId, generation: tries.generation });
    return found.kind === "unknown" ? { ...found, message: `${said} ${found.message}` } : found;
  }
}
