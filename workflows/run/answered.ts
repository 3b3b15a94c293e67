import { ActivityFailure, isCancellation, sleep } from "@temporalio/workflow";

import type { Refusal } from "../../src/contract/index.ts";
import type { Attended } from "./attended.ts";
import { CancelledByPerson } from "./cancelled-by-person.ts";
import { park } from "./park.ts";

const MINUTE_MS = 60_000;

/** A refused key is looked at again by itself, ever more slowly; a person who has mended it does not wait. */
const KEY_PAUSES_MS = [1, 2, 5, 10, 30, 60].map((minutes) => minutes * MINUTE_MS);

/** Whether a call's result is the answer that its step works with, and not one that needs a person. */
export function isRefusal(result: { kind: string }): result is Refusal {
  return result.kind === "refused";
}

/**
 * Makes a call that may be repeated, until it has an answer that its step can work with. Everything else parks the run with
 * the stated reason.
 * @throws CancelledByPerson where a person cancels instead of mending it
 */
export async function answered<T extends { kind: string }>(
  run: Attended,
  call: (again: number) => Promise<T | Refusal>,
): Promise<Exclude<T, Refusal>> {
  for (let again = 0; ; again++) {
    const result = await answerOf(call(again));
    if (!isRefusal(result)) return result as Exclude<T, Refusal>;
    await parkOnRefusal(run, result, again);
  }
}

/**
 * Parks until the call that was refused is worth another try.
 * @param again how often it was refused before, which makes the pauses grow
 * @throws CancelledByPerson
 */
export async function parkOnRefusal(run: Attended, refusal: Refusal, again: number): Promise<void> {
  const attention = {
    code: refusal.attention,
    message: refusal.message,
    ...evidenceOf(refusal),
    // Taking note of it would not answer the call.
    ...(refusal.attention === "unexpected-answer" && { mendedBy: ["retry"] as const }),
  };
  const wake = (): Promise<boolean> => sleep(keyPauseMs(again)).then(() => true);
  // A key is mended by `retry` alone, but nobody should have to mend a key in order to cancel.
  await park(run, attention, { ...(refusal.attention === "credentials" && { wake }), until: () => run.cancelDue });
  if (run.cancelDue) throw new CancelledByPerson(run.cancelRequested ?? "");
}

/** The pause before a refused key is tried again. */
export function keyPauseMs(refusalsBefore: number): number {
  return KEY_PAUSES_MS[Math.min(refusalsBefore, KEY_PAUSES_MS.length - 1)] ?? MINUTE_MS;
}

export function evidenceOf(refusal: Refusal): { evidence?: Record<string, unknown> } {
  const { status, apiCode, details } = refusal;
  const evidence = { ...(status && { status }), ...(apiCode && { apiCode }), ...details };
  return Object.keys(evidence).length > 0 ? { evidence } : {};
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
