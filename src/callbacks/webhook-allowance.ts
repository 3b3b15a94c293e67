/** How many webhooks of one connection are passed on. */
export interface AllowanceOptions {
  /** Accepted at once. Default 20. */
  burst?: number;
  /** One more is accepted after each of these. Default 60,000. */
  refillMs?: number;
}

/** Takes one webhook out of a connection's allowance: 0 when there was one, else the milliseconds until there is. */
export type TakeWebhook = (connection: string, nowMs: number) => number;

/**
 * A bucket for each connection. Each webhook asks a synchronisation for another pass, and one pass reads all that has
 * changed: those that follow at once gain nothing. The buckets live in this process; several receivers each allow as
 * much, and a synchronisation's run ends soon.
 */
export function createWebhookAllowance(options: AllowanceOptions = {}): TakeWebhook {
  const { burst = 20, refillMs = 60_000 } = options;
  /** When the bucket of each connection is full again. */
  const fullAtMs = new Map<string, number>();

  return (connection, nowMs) => {
    const before = Math.max(fullAtMs.get(connection) ?? nowMs, nowMs);
    const after = before + refillMs;
    const missingMs = after - nowMs - burst * refillMs;
    if (missingMs > 0) return missingMs;
    fullAtMs.set(connection, after);
    return 0;
  };
}
