import type { WorkflowTimings } from "../contract/connection.ts";
import type { Timings } from "./process-settings.ts";

/** Each pause is this many times the one before it. */
const GROWTH = 3;
/** The pauses fill this part of the window: the rest is for the calls themselves. */
const FILLED = 0.8;

/** The configured timings that a workflow gets. */
export function workflowTimings(timings: Timings): WorkflowTimings {
  const { callTimeoutMs, firstPollMs, firstPollWithCallbackMs, slowAfterMs, unservedAfterMs, refundWindowMs } = timings;
  return {
    callTimeoutMs,
    resubmissionDelaysMs: growingDelays(timings.resubmissions, timings.resubmissionWindowMs * FILLED),
    firstPollMs,
    firstPollWithCallbackMs,
    slowAfterMs,
    unservedAfterMs,
    keyLifeMs: timings.idempotencyKeyLifeMs,
    refundWindowMs,
  };
}

function growingDelays(count: number, totalMs: number): number[] {
  const weights = Array.from({ length: count }, (_, index) => GROWTH ** index);
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => Math.floor((totalMs * weight) / weightSum));
}
