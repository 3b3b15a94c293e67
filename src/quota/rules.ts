/** What the budget of one application goes by. */
export interface BudgetRules {
  /** Requests in a window, until headers say how many. */
  fallbackLimit: number;
  /** Of a window, until headers say otherwise (Fiscal Compliance API, "Limits": one-minute windows). Milliseconds. */
  lengthMs: number;
  /** Calls under way at once in this process while no answer has shown a limit. */
  unknownConcurrency: number;
  /** Of the limit: what interactive work is expected to need at most, and background work leaves to it. */
  interactiveShare: number;
  /** Calls that fail one after the other before they are made one at a time. */
  failuresBeforeProbing: number;
  /** Between two calls of a service that fails: the first pause, which doubles up to the longest. Milliseconds. */
  firstPauseMs: number;
  longestPauseMs: number;
  /**
   * A Retry-After or a reset beyond it is not believed: one absurd header must not stop every till for a day.
   * Milliseconds.
   */
  longestClosedMs: number;
}

export function budgetRules(fallbackLimit: number, firstPauseMs = 1_000): BudgetRules {
  return {
    fallbackLimit,
    lengthMs: 60_000,
    unknownConcurrency: 4,
    interactiveShare: 0.2,
    failuresBeforeProbing: 5,
    firstPauseMs,
    longestPauseMs: 30 * firstPauseMs,
    longestClosedMs: 600_000,
  };
}
