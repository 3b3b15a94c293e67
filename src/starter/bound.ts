import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "@temporalio/client";

/** Until when a caller waits at most (Unix milliseconds). */
const bounds = new AsyncLocalStorage<number>();

/**
 * Whatever the work asks of Temporal, also by {@link within}, ends in this time, whoever of those that it asks is away.
 */
export function bounded<T>(client: Client, withinMs: number, work: () => Promise<T>): Promise<T> {
  const byMs = Date.now() + withinMs;
  return bounds.run(byMs, () => client.withDeadline(byMs, work));
}

/** Infinite where the caller set no bound. */
export function boundMs(): number {
  return bounds.getStore() ?? Number.POSITIVE_INFINITY;
}

/** As the client's `withDeadline`, whose deadline would replace the caller's bound where it is later. */
export function within<T>(client: Client, withinMs: number, work: () => Promise<T>): Promise<T> {
  return client.withDeadline(Math.min(Date.now() + withinMs, boundMs()), work);
}
