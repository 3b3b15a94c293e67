import { setTimeout as delay } from "node:timers/promises";

import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "@temporalio/client";

import { firstTrouble, type JobState, STATE_QUERY } from "../../contract/index.ts";
import { answeredInTime, isWithoutAnswer, whyNobodyAnswers } from "../../starter/answered-in-time.ts";
import { pendingCallsOf } from "../../starter/pending-calls.ts";
import { workflowError } from "../../starter/errors.ts";
import { queryOf } from "../../starter/no-answer.ts";

const LOOK_EVERY_MS = 500;
/** A query that nobody answers is asked again until then. */
const ANSWER_WITHIN_MS = 30_000;
const QUERY_WITHIN_MS = 5_000;

export type Followed<Progress, Result> =
  | { end: "done"; result: Result }
  /** It waits for an operator, and goes on by itself once that is resolved. */
  | { end: "needs-an-operator"; state: JobState<Progress> }
  | { end: "still-running"; state: JobState<Progress> | undefined };

export interface Following<Progress> {
  /** How long to wait; absent: until it ends. */
  waitMs: number | undefined;
  onProgress: (state: JobState<Progress>) => void;
  signal: AbortSignal;
  /** Milliseconds between two looks; default: 500. */
  lookEveryMs?: number;
}

/**
 * Waits for a job, over all its runs, and tells how far it is.
 * @throws NoAnswerError, NoWorkerError where no worker answers; the workflow's failure
 */
export async function followJob<Progress, Result>(
  client: Client,
  workflowId: string,
  { waitMs, onProgress, signal, lookEveryMs = LOOK_EVERY_MS }: Following<Progress>,
): Promise<Followed<Progress, Result>> {
  const handle = client.workflow.getHandle(workflowId);
  const deadlineMs = waitMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + waitMs;
  let answeredAtMs = Date.now();
  let state: JobState<Progress> | undefined;
  for (;;) {
    const run = await handle.describe();
    if (run.status.name !== "RUNNING") return { end: "done", result: await resultOf<Result>(client, workflowId) };
    try {
      state = await askJob<Progress>(client, run);
      answeredAtMs = Date.now();
    } catch (error) {
      if (!isWithoutAnswer(error)) throw error;
      if (Date.now() - answeredAtMs > ANSWER_WITHIN_MS)
        throw await whyNobodyAnswers(client, queryOf(workflowId), error);
    }
    if (state) onProgress(state);
    if (state && state.attentions.length > 0) return { end: "needs-an-operator", state };
    if (Date.now() >= deadlineMs) return { end: "still-running", state };
    await delay(lookEveryMs, undefined, { signal });
  }
}

/** Where a job that runs stands. @throws NoAnswerError, NoWorkerError where no worker answers */
export async function stateOfJob<Progress>(
  client: Client,
  run: WorkflowExecutionDescription,
): Promise<JobState<Progress>> {
  return await answeredInTime(client, queryOf(run.workflowId), () => askJob<Progress>(client, run));
}

/** With what its pending calls have met. */
async function askJob<Progress>(client: Client, run: WorkflowExecutionDescription): Promise<JobState<Progress>> {
  const handle = client.workflow.getHandle(run.workflowId);
  const state = await client.withDeadline(Date.now() + QUERY_WITHIN_MS, () =>
    handle.query<JobState<Progress>>(STATE_QUERY),
  );
  const troubles = [state.serviceTrouble, ...pendingCallsOf(client, run).map(({ trouble }) => trouble)];
  const serviceTrouble = firstTrouble(troubles);
  return serviceTrouble ? { ...state, serviceTrouble } : state;
}

export async function resultOf<Result>(client: Client, workflowId: string): Promise<Result> {
  try {
    return (await client.workflow.getHandle(workflowId).result()) as Result;
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw workflowError(error.cause ?? error);
    throw error;
  }
}

type Run = Pick<WorkflowExecutionInfo, "workflowId" | "runId" | "startTime">;

/**
 * When a job was started (Unix milliseconds). A long job continues as new: each of its runs has a start of its own, and
 * knows the first one. Once Temporal has deleted that one, the start of this run is all there is.
 */
export async function chainStartMs(client: Client, { workflowId, runId, startTime }: Run): Promise<number> {
  const describe = (id: string) => client.workflow.getHandle(workflowId, id).describe();
  try {
    const firstRunId = (await describe(runId)).raw.workflowExecutionInfo?.firstRunId;
    if (!firstRunId || firstRunId === runId) return startTime.getTime();
    return (await describe(firstRunId)).startTime.getTime();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return startTime.getTime();
    throw error;
  }
}
