/** How many callbacks are signalled to one workflow. */
export interface AllowanceOptions {
  /** Accepted at once. Default 20. */
  burst?: number;
  /** One more is accepted after each of these. Default 60,000. */
  refillMs?: number;
  /** Workflows that are remembered; the one not heard of for longest is forgotten. Default 20,000. */
  remembered?: number;
}

/** Takes one callback out of a workflow's allowance: 0 when there was one, else the milliseconds until there is. */
export type TakeSignal = (workflowId: string, nowMs: number) => number;

/**
 * A bucket per workflow. A callback URL does not expire, and each signal stays in its workflow's history, which
 * Temporal bounds (10,000 signals a run by default): a URL that leaked, or a sender in a loop, must not fill it. The
 * bucket lives in this process; several receivers each allow as much.
 */
export function createSignalAllowance(options: AllowanceOptions = {}): TakeSignal {
  const { burst = 20, refillMs = 60_000, remembered = 20_000 } = options;
  /** When the bucket of each workflow is full again, by last use. */
  const fullAtMs = new Map<string, number>();

  return (workflowId, nowMs) => {
    const before = Math.max(fullAtMs.get(workflowId) ?? nowMs, nowMs);
    const after = before + refillMs;
    const missingMs = after - nowMs - burst * refillMs;
    if (missingMs > 0) return missingMs;
    fullAtMs.delete(workflowId);
    fullAtMs.set(workflowId, after);
    if (fullAtMs.size > remembered) {
      const oldest = fullAtMs.keys().next();
      if (!oldest.done) fullAtMs.delete(oldest.value);
    }
    return 0;
  };
}
