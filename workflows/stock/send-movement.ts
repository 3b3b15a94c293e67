import { ActivityFailure, TimeoutFailure } from "@temporalio/workflow";

import type {
  AdjustStockRequest,
  AdjustStockResult,
  AskedMovement,
  ReadMovementResult,
} from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { ledger } from "../proxies.ts";
import { rootMessage } from "../run/answered.ts";

/**
 * Sends one try. Where its activity ends without an answer, the claim tells what became of it.
 * @param more whose movement it is, where this run sends it for another one; the record to keep with the answer
 */
export async function sendMovement(
  { calls, target }: Pick<Work, "calls" | "target">,
  asked: AskedMovement,
  more: Pick<AdjustStockRequest, "sentFor" | "record"> = {},
): Promise<AdjustStockResult> {
  try {
    return await calls.unrepeatableWrite.adjustStock({ ...target, ...asked, ...more });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message = rootMessage(error);
    // No worker took the task: nothing was sent.
    if (error.cause instanceof TimeoutFailure && error.cause.timeoutType === "SCHEDULE_TO_START") {
      return { kind: "deferred", sameTry: true, message };
    }
    return await whatBecameOf(target, asked, `The call ended without an answer: ${message}.`);
  }
}

/**
 * Asks the claim of a try whose answer did not come: never taken means never sent, and not to be sent by that try any more; a written
 * outcome is the answer; a claim without outcome is unknown (architecture, decision 6).
 * @param said why there is no answer, as a sentence
 */
export async function whatBecameOf(
  target: Work["target"],
  { referenceId, claim }: AskedMovement,
  said: string,
): Promise<ReadMovementResult> {
  const found = await ledger.readMovement({ ...target, referenceId, generation: claim.generation });
  return found.kind === "unknown" ? { ...found, message: `${said} ${found.message}` } : found;
}
