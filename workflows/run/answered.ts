import { ActivityFailure, isCancellation } from "@temporalio/workflow";

import type { Refusal } from "../../src/contract/index.ts";
import type { Attended } from "./attended.ts";
import { Refusals } from "./refusals.ts";

/** Whether a call's result is the answer that its step works with, and not one that needs a person. */
export function isRefusal(result: { kind: string }): result is Refusal {
  return result.kind === "refused";
}

/**
 * Makes a call that may be repeated, until it has an answer that its step can work with. Everything else parks the run with
 * the stated reason.
 * @param refusals those of before, where the call follows one that was refused
 * @throws CancelledByPerson where a person cancels instead of mending it
 */
export async function answered<T extends { kind: string }>(
  run: Attended,
  call: (again: number) => Promise<T | Refusal>,
  refusals: Refusals = new Refusals(run),
): Promise<Exclude<T, Refusal>> {
  try {
    for (let again = 0; ; again++) {
      const result = await answerOf(call(again));
      if (!isRefusal(result)) return result as Exclude<T, Refusal>;
      await refusals.park(result);
    }
  } finally {
    // Also where the step itself is cancelled: an attention must not outlive what it is about.
    refusals.over();
  }
}

/** A call that was tried to its total bound without an answer is shown, not failed. */
export async function answerOf<T>(call: Promise<T>): Promise<T | Refusal> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return { kind: "refused", attention: "unexpected-answer", message: `${error.activityType}: ${rootMessage(error)}` };
  }
}

/** A converging write that was lost with its worker: what became of it is looked for before another try. */
export async function lostAsConverging<T>(call: Promise<T>): Promise<T | { kind: "converging"; message: string }> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return { kind: "converging", message: rootMessage(error) };
  }
}

export function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message;
}
