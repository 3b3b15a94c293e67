import { CancellationScope, condition, isCancellation } from "@temporalio/workflow";

import { MENDED_BY } from "../../src/contract/index.ts";
import { type Attended, attentionKey, type NewAttention } from "./attended.ts";

/**
 * `acknowledged`: a person answered with the attention's own update. `woken`: what it waited for is there. `again`: the wait ended
 * without it, so the step has to look for itself.
 */
export type Verdict = "retry" | "cancel" | "acknowledged" | "woken" | "again";

export interface Wakes {
  /** Runs while the run is parked. True: what it waited for is there; false, or a failure: the step has to look for itself. */
  wake?: () => Promise<boolean>;
  /** Checked with every change of the run. */
  until?: () => boolean;
  /** The attention outlasts a wake: whoever parks clears it once what it is about is over. */
  lasts?: boolean;
}

/** Waits, with a stated reason, for whatever mends it. A cancellation that was asked for earlier counts at once. */
export async function park(run: Attended, attention: NewAttention, wakes: Wakes = {}): Promise<Verdict> {
  const key = attentionKey(attention.code, attention.subject);
  const mends = attention.mendedBy ?? MENDED_BY[attention.code];
  const retriesBefore = run.retriesOf(key);
  run.raise(attention);
  const scope = new CancellationScope();
  let woken: "woken" | "again" | undefined;
  const waking = wakes.wake
    ? scope.run(wakes.wake).then(
        (there) => (woken = there ? "woken" : "again"),
        () => (woken = "again"),
      )
    : undefined;
  const cancelled = (): boolean => mends.includes("cancel") && run.cancelDue;
  const retried = (): boolean => run.retriesOf(key) > retriesBefore;
  let acknowledged = false;
  let lasting = false;
  try {
    await condition(
      () => cancelled() || retried() || !run.needs(key) || woken !== undefined || wakes.until?.() === true,
    );
    acknowledged = !run.needs(key);
    lasting = wakes.lasts === true && woken !== undefined && !cancelled() && !retried();
  } finally {
    // Also where the step itself is cancelled: an attention must not outlive what it is about.
    if (!lasting) run.clear(key);
    scope.cancel();
  }
  const cameBy = woken;
  await waking;
  if (cancelled()) return "cancel";
  if (acknowledged) return "acknowledged";
  return retried() ? "retry" : (cameBy ?? "again");
}

/** Waits for an activity that waits for the outside world, or until it need not be waited for any more. */
export async function untilDone(wait: () => Promise<unknown>, orUntil: () => boolean): Promise<void> {
  const scope = new CancellationScope();
  let there = false;
  const waiting = scope.run(wait).then(
    () => (there = true),
    // Whoever waits looks again, and is told again that it is away.
    () => (there = true),
  );
  await condition(() => there || orUntil());
  scope.cancel();
  await waiting;
}

/** A person asked to cancel, and no document stands in the way. Ends the body's way forward, never the workflow as failed. */
export class CancelledByPerson extends Error {
  override readonly name = "CancelledByPerson";

  constructor(reason: string) {
    super(`cancelled: ${reason}`);
  }
}

/**
 * Runs a step that a cancellation may end at once, since while it runs nothing exists that would have to be undone.
 * @throws CancelledByPerson
 */
export async function unlessCancelled<T>(run: Attended, step: () => Promise<T>): Promise<T> {
  const scope = new CancellationScope();
  let done = false;
  const running = scope.run(step).finally(() => (done = true));
  running.catch(() => undefined);
  await condition(() => done || run.cancelDue);
  if (done) return await running;
  scope.cancel();
  await running.catch((error: unknown) => {
    if (!isCancellation(error) && !(error instanceof CancelledByPerson)) throw error;
  });
  throw new CancelledByPerson(run.cancelRequested ?? "");
}
