import { CancellationScope, condition, isCancellation } from "@temporalio/workflow";

import type { Attention } from "../../src/contract/index.ts";
import type { Run } from "./run.ts";

/** `acknowledged`: a person answered with the attention's own update. `woken`: what it waited for came by itself. */
export type Verdict = "retry" | "cancel" | "acknowledged" | "woken";

export interface Wakes {
  /** Runs while the run is parked; its end is a wake-up. */
  wake?: () => Promise<unknown>;
  /** Checked with every change of the run. */
  until?: () => boolean;
}

/** Waits, with a stated reason, for whatever mends it. A cancellation that was asked for earlier counts at once. */
export async function park(
  run: Run,
  attention: Omit<Attention, "sinceMs" | "mendedBy">,
  wakes: Wakes = {},
): Promise<Verdict> {
  const retriesBefore = run.retriesRequested;
  const key = run.raise(attention);
  const mends = run.attentions.find((one) => one.code === attention.code)?.mendedBy ?? [];
  let woken = false;
  const scope = new CancellationScope();
  const waking = wakes.wake
    ? scope.run(wakes.wake).then(
        () => (woken = true),
        (error: unknown) => {
          if (!isCancellation(error)) woken = true;
        },
      )
    : undefined;
  const cancelled = (): boolean => mends.includes("cancel") && run.cancelDue;
  const retried = (): boolean => mends.includes("retry") && run.retriesRequested > retriesBefore;
  await condition(() => cancelled() || retried() || !run.needs(key) || woken || wakes.until?.() === true);
  scope.cancel();
  await waking;
  const acknowledged = !run.needs(key);
  run.clear(key);
  if (cancelled()) return "cancel";
  if (acknowledged) return "acknowledged";
  return retried() ? "retry" : "woken";
}
