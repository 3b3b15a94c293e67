import type { Runner } from "../lanes.ts";

/** The orders that a worker process of the comparisons gets. */
export interface RivalOrders {
  readonly serviceUrl: string;
  readonly temporalAddress: string;
  readonly redis?: { readonly url: string; readonly prefix: string } | undefined;
  readonly limit: number;
  readonly windowMs: number;
  readonly lanes: readonly { readonly name: string; readonly runner: Runner; readonly apiKey: string }[];
}

/** Calls that one process has under way at once, in each of the plain ways. */
export const FIXED_SLOTS = 8;
