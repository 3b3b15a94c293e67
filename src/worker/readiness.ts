import type { ConnectionLike } from "@temporalio/client";

import { MAIN_TASK_QUEUE } from "../contract/index.ts";
import { recentPollers } from "./recent-pollers.ts";
import { isRefusal } from "./require-temporal.ts";

export type Readiness = { ready: true } | { ready: false; reason: string };

const CALL_MS = 3_000;
/** The question costs Temporal a request, and probes come often. */
const ANSWER_LASTS_MS = 5_000;

export interface ReadinessOptions {
  /** States of all workers. */
  states: () => readonly string[];
  connection: ConnectionLike;
  namespace: string;
  identity: string;
  nowMs?: () => number;
}

/**
 * Whether this process takes work: every worker runs, and Temporal has seen its workflow poller lately. A closed
 * request budget is ready, since the work waits where it should.
 */
export function createReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { states, nowMs = Date.now } = options;
  let last: { polls: Promise<Readiness>; untilMs: number } | undefined;
  return async () => {
    const idle = states().find((state) => state !== "RUNNING");
    if (idle !== undefined) return { ready: false, reason: `a worker is ${idle}` };
    if (last === undefined || nowMs() >= last.untilMs) {
      last = { polls: pollsWorkflows(options), untilMs: nowMs() + ANSWER_LASTS_MS };
    }
    return last.polls;
  };
}

async function pollsWorkflows({ connection, namespace, identity }: ReadinessOptions): Promise<Readiness> {
  try {
    const pollers = await connection.withDeadline(Date.now() + CALL_MS, () => recentPollers(connection, namespace));
    if (pollers.includes(identity)) return { ready: true };
    return { ready: false, reason: `Temporal knows no recent poll of ${identity} on ${MAIN_TASK_QUEUE}` };
  } catch (error) {
    return { ready: false, reason: isRefusal(error) ? "Temporal refuses this worker" : "Temporal cannot be reached" };
  }
}
