import type { ActivityInterceptorsFactory } from "@temporalio/worker";

import { type CallClass, callingAs } from "../quota/index.ts";

/** Tells the rate limiter of which class a worker's calls are: that of its task queue. Activities need not know. */
export function sendingAs(callClass: CallClass): ActivityInterceptorsFactory {
  return () => ({ inbound: { execute: (input, next) => callingAs(callClass, () => next(input)) } });
}
