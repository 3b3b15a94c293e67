import {
  ApplicationFailure,
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";

import { QUERY_REFUSED } from "../contract/names.ts";
import { NoAnswerError } from "./errors.ts";

/** A workflow answers a message within seconds, unless no worker runs: then nobody should wait for it. */
const ANSWER_WITHIN_MS = 30_000;
/** A message that its workflow's end overtakes is lost without an answer; asked again, it finds the end. */
const TRY_WITHIN_MS = 5_000;
const FIRST_PAUSE_MS = 50;
const MOST_PAUSE_MS = 1_000;

const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;
const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;
/**
 * What gRPC says where the caller itself gave up, by an abort signal. The server's own word for a passed deadline is
 * another.
 */
const BY_CALLER = "Cancelled on client";
/**
 * Temporal's type of failure for an update whose workflow task was completed without a word on it: nothing of it was
 * done.
 */
const NOT_PROCESSED = "UnprocessedUpdate";
/** Temporal knows at once that nobody has asked for work of this queue for minutes. */
const NO_WORKER = /no poller/i;

/**
 * Asks again until there is an answer: Temporal gives a message up whose workflow task fails under it, which happens to
 * a workflow that wants to end while something else arrives. So `ask` must be harmless to repeat: a query, or an update
 * under one id.
 * @throws NoAnswerError where no worker answers
 */
export async function answeredInTime<T>(
  client: Client,
  workflowId: string,
  ask: () => Promise<T>,
  withinMs = ANSWER_WITHIN_MS,
): Promise<T> {
  const deadlineMs = Date.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS)) {
    try {
      return await client.withDeadline(Math.min(Date.now() + TRY_WITHIN_MS, deadlineMs), ask);
    } catch (error) {
      if (!isWithoutAnswer(error)) throw error;
      if (findsNoWorker(error) || Date.now() + pauseMs >= deadlineMs) throw new NoAnswerError(workflowId, error);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/**
 * Whether nobody was there to answer: no worker, or for a while no server; or the worker refused, to be asked again.
 * What was asked is harmless to repeat.
 */
export function isWithoutAnswer(error: unknown): boolean {
  if (isRefusedQuery(error)) return true;
  const [grpcError] = grpcErrorsOf(error);
  if (grpcError?.code === CANCELLED) return grpcError.details !== BY_CALLER;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  if (error instanceof WorkflowUpdateFailedError)
    return error.cause instanceof ApplicationFailure && error.cause.type === NOT_PROCESSED;
  return grpcErrorsOf(error).some(({ code }) => [DEADLINE_EXCEEDED, FAILED_PRECONDITION, UNAVAILABLE].includes(code));
}

/** The client takes any query that failed for one that is not registered, and keeps the worker's message. */
function isRefusedQuery(error: unknown): boolean {
  if (error instanceof QueryNotRegisteredError) return error.message === QUERY_REFUSED;
  return grpcErrorsOf(error).some(({ details }) => details === QUERY_REFUSED);
}

function findsNoWorker(error: unknown): boolean {
  return grpcErrorsOf(error).some(({ code, details }) => code === FAILED_PRECONDITION && NO_WORKER.test(details));
}

function grpcErrorsOf(error: unknown): { code: number; details: string }[] {
  return [error, error instanceof Error ? error.cause : undefined].filter((one) => isGrpcServiceError(one));
}
