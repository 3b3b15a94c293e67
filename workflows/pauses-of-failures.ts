import type { RetryPolicy } from "@temporalio/workflow";

/**
 * Every pause comes with its failure (decision 0014). Only an attempt that was lost with its worker brings none, and it is no reason to wait the
 * longer, however often the service had put the call off before.
 */
export const PAUSES_OF_FAILURES = {
  initialInterval: "5 seconds",
  backoffCoefficient: 1,
} as const satisfies RetryPolicy;
