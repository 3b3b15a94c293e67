import {
  ApplicationFailure,
  type Client,
  QueryNotRegisteredError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";

import type { FiscalflowError } from "../contract/errors.ts";
import { MAIN_TASK_QUEUE, QUERY_REFUSED } from "../contract/names.ts";
import { boundMs, within } from "./bound.ts";
import {
  type Asked,
  BY_CALLER,
  GRPC,
  grpcErrorsOf,
  NoAnswerError,
  NoWorkerError,
  temporalError,
  TemporalUnavailableError,
} from "./errors.ts";

/** A workflow answers a message within seconds, unless no worker runs: then nobody should wait for it. */
export const ANSWER_WITHIN_MS = 30_000;
/** A message that its workflow's end overtakes is lost without an answer; asked again, it finds the end. */
const TRY_WITHIN_MS = 5_000;
const WHY_WITHIN_MS = 2_000;
/** `TASK_QUEUE_TYPE_WORKFLOW`. */
const WORKFLOW_TASKS = 1;
const FIRST_PAUSE_MS = 50;
const MOST_PAUSE_MS = 1_000;

const WITHOUT_ANSWER: readonly number[] = [GRPC.DEADLINE_EXCEEDED, GRPC.FAILED_PRECONDITION, GRPC.UNAVAILABLE];
/**
 * Temporal's type of failure for an update whose workflow task was completed without a word on it: nothing of it was
 * done.
 */
const NOT_PROCESSED = "UnprocessedUpdate";
/** Of a query: the run was closed before any worker began it, so that nobody can ever answer. */
const NEVER_BEGUN = /closed before WorkflowTaskStarted/i;
/** Temporal knows at once that nobody has asked for work of this queue for minutes. */
const NO_WORKER = /no poller/i;

/**
 * Asks again until there is an answer: Temporal gives a message up whose workflow task fails under it, which happens to
 * a workflow that wants to end while something else arrives. So `ask` must be harmless to repeat: a query, or an update
 * under one id. It ends with its reason once the signal is aborted, which ends what was asked too.
 * @throws NoAnswerError, NoWorkerError, TemporalUnavailableError where nobody answers
 */
export async function answeredInTime<T>(
  client: Client,
  asked: Asked,
  ask: () => Promise<T>,
  { withinMs = ANSWER_WITHIN_MS, signal }: { withinMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const deadlineMs = Math.min(Date.now() + withinMs, boundMs());
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS)) {
    signal?.throwIfAborted();
    try {
      return await within(client, Math.min(TRY_WITHIN_MS, deadlineMs - Date.now()), () =>
        withOwnSignal(client, signal, ask),
      );
    } catch (error) {
      if (!isWithoutAnswer(error)) throw error;
      if (findsNoWorker(error) || Date.now() + pauseMs >= deadlineMs)
        throw await whyNobodyAnswers(client, asked, error);
      await pause(pauseMs, signal);
    }
  }
}

/**
 * Has a signal of its own for each try: Temporal's client leaves a listener on its signal for each request, and the
 * caller's signal outlives the tries.
 */
async function withOwnSignal<T>(client: Client, signal: AbortSignal | undefined, ask: () => Promise<T>): Promise<T> {
  if (!signal) return await ask();
  const own = new AbortController();
  const abort = (): void => own.abort();
  signal.addEventListener("abort", abort);
  try {
    return await client.withAbortSignal(own.signal, ask);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

/**
 * Whether nobody was there to answer: no worker, or for a while no server; or the worker refused, to be asked again.
 * What was asked is harmless to repeat.
 */
export function isWithoutAnswer(error: unknown): boolean {
  if (isRefusedQuery(error)) return true;
  if (isOfRunNeverBegun(error)) return false;
  const [grpcError] = grpcErrorsOf(error);
  if (grpcError?.code === GRPC.CANCELLED) return grpcError.details !== BY_CALLER;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  if (error instanceof WorkflowUpdateFailedError)
    return error.cause instanceof ApplicationFailure && error.cause.type === NOT_PROCESSED;
  return grpcErrorsOf(error).some(({ code }) => WITHOUT_ANSWER.includes(code));
}

/**
 * Whether a closed run cannot say anything: no worker had begun it, or its history does not replay on the code of the
 * workers, whether that has changed or the run was ended by a defect. Temporal's client takes any query that failed for
 * one that is not registered.
 */
export function isUnreadable(error: unknown): boolean {
  if (isOfRunNeverBegun(error)) return true;
  return error instanceof QueryNotRegisteredError && !isWithoutAnswer(error);
}

function isOfRunNeverBegun(error: unknown): boolean {
  return grpcErrorsOf(error).some(
    ({ code, details }) => code === GRPC.FAILED_PRECONDITION && NEVER_BEGUN.test(details),
  );
}

/** Asks Temporal who serves the task queue: it says so at once, also where no worker has been there for minutes. */
export async function whyNobodyAnswers(client: Client, asked: Asked, cause: unknown): Promise<FiscalflowError> {
  if (findsNoWorker(cause)) return new NoWorkerError(asked, cause);
  const { workflowService, options } = client;
  const ask = () =>
    workflowService.describeTaskQueue({
      namespace: options.namespace,
      taskQueue: { name: MAIN_TASK_QUEUE },
      taskQueueType: WORKFLOW_TASKS,
    });
  try {
    const { pollers } = await client.withDeadline(Date.now() + WHY_WITHIN_MS, ask);
    return pollers.length === 0 ? new NoWorkerError(asked, cause) : NoAnswerError.to(asked, cause);
  } catch (error) {
    const known = temporalError(error);
    return known instanceof TemporalUnavailableError ? known : NoAnswerError.to(asked, cause);
  }
}

/** The client takes any query that failed for one that is not registered, and keeps the worker's message. */
function isRefusedQuery(error: unknown): boolean {
  if (error instanceof QueryNotRegisteredError) return error.message === QUERY_REFUSED;
  return grpcErrorsOf(error).some(({ details }) => details === QUERY_REFUSED);
}

function findsNoWorker(error: unknown): boolean {
  return grpcErrorsOf(error).some(({ code, details }) => code === GRPC.FAILED_PRECONDITION && NO_WORKER.test(details));
}
