import { AsyncLocalStorage } from "node:async_hooks";
import { type Client, Connection } from "@temporalio/client";
import { z } from "zod";

import { parseInput } from "../contract/schema/parse-input.ts";

export const LONGEST_WAIT_SECONDS = 86_400;

const error = `expected a number of seconds from 0 to ${LONGEST_WAIT_SECONDS}`;
const waitSchema = z.object({
  waitSeconds: z.number({ error }).min(0, { error }).max(LONGEST_WAIT_SECONDS, { error }),
});

/**
 * Of a caller's `waitSeconds`, which JavaScript does not check. A deadline that is no time ends the process: gRPC
 * throws where nobody can catch it.
 * @throws InvalidInputError
 */
export function waitMsOf(waitSeconds: number): number {
  return parseInput(waitSchema, { waitSeconds }, "wait").waitSeconds * 1000;
}

interface Bound {
  sinceMs: number;
  /** Until when the caller waits at most (Unix milliseconds). */
  byMs: number;
  address: string | undefined;
}

const bounds = new AsyncLocalStorage<Bound>();

/**
 * Whatever the work asks of Temporal, also by {@link within}, ends in this time, also while any of those that it asks
 * is away.
 */
export function bounded<T>(client: Client, withinMs: number, work: () => Promise<T>): Promise<T> {
  const sinceMs = Date.now();
  const byMs = sinceMs + withinMs;
  const { connection } = client;
  const address = connection instanceof Connection ? connection.options.address : undefined;
  return bounds.run({ sinceMs, byMs, address }, () => client.withDeadline(byMs, work));
}

/** Whom a bounded caller has asked, and for how long; for the words of an error. */
export function waitedFor(): { seconds: number; address: string | undefined } | undefined {
  const bound = bounds.getStore();
  return bound && { seconds: Math.round((Date.now() - bound.sinceMs) / 1000), address: bound.address };
}

/** Infinite where the caller set no bound. */
export function boundMs(): number {
  return bounds.getStore()?.byMs ?? Number.POSITIVE_INFINITY;
}

/**
 * How long Temporal itself may take for what needs no worker: long enough for a server that restarts. A till does not
 * wait longer to hear that there is none.
 */
export const TEMPORAL_WITHIN_MS = 10_000;

/** As the client's `withDeadline`, whose deadline would replace the caller's bound where it is later. */
export function within<T>(client: Client, withinMs: number, work: () => Promise<T>): Promise<T> {
  return client.withDeadline(Math.min(Date.now() + withinMs, boundMs()), work);
}
