import { setTimeout as delay } from "node:timers/promises";

import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
} from "@temporalio/client";

import { loadConfig } from "../../config/index.ts";
import {
  aboutWorkflow,
  type Attention,
  firstTrouble,
  type JobState,
  MAIN_TASK_QUEUE,
  type Owner,
  STATE_QUERY,
  troubleInWords,
  type WorkflowType,
} from "../../contract/index.ts";
import { ANSWER_WITHIN_MS, answeredInTime } from "../../starter/answered-in-time.ts";
import { NoAnswerError, queryOf, workflowError } from "../../starter/errors.ts";
import { pendingCallsOf } from "../../starter/runs.ts";
import { CommandFailedError } from "../cli-error.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { answerLines } from "../operate/operating-commands.ts";
import { printNote, printResult } from "../output.ts";
import { attentionLines as linesOfAttention } from "../sale/attention-lines.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import type { Job, JobScope } from "./job.ts";

export interface JobFlags extends Scope, ResultFlags {
  wait?: true | number;
}

/** One run of a job at a time; it may be started again once that has ended. @returns false where it runs already */
async function startJob(client: Client, type: WorkflowType, workflowId: string, input: Owner): Promise<boolean> {
  try {
    await client.workflow.start(type, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      ...aboutWorkflow(type, input),
      workflowIdConflictPolicy: "FAIL",
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/**
 * Starts the job, or finds the one that runs; with `--wait` follows it to its end.
 * @param options what is asked for beside the scope: a job that runs already does not do it
 */
export async function runJob<Progress, Result>(
  context: CliContext,
  job: Job<Progress, Result>,
  flags: JobFlags,
  options: Record<string, unknown> = {},
): Promise<void> {
  const scope = job.owner.served(loadConfig({ env: context.env }), flags);
  const workflowId = job.workflowId(scope);
  await withTemporal(context, async ({ client }) => {
    const started = await startJob(client, job.workflow, workflowId, { ...scope, ...job.input, ...options });
    const asked = !started && job.askedBy !== undefined;
    if (asked) await client.workflow.getHandle(workflowId).signal(job.askedBy ?? "", options);
    const how = started ? "started" : `runs already${asked ? ", and does what is asked when that is done" : ""}`;
    printNote(context, `The ${job.noun} ${how} (${workflowId}).`);
    if (!started && !asked && Object.keys(options).length > 0) {
      const again = `Wait until it has ended, then ask again for ${Object.keys(options).join(", ")}.`;
      throw new CommandFailedError(`Another ${job.noun} of this business runs, and nothing was started. ${again}`);
    }
    if (flags.wait === undefined) {
      const data = { workflowId, result: started ? "started" : "running" };
      printResult(context, flags.json, data, `${workflowId}: ${how}`);
      return;
    }
    await waitForJob(context, client, job, { flags, scope, workflowId });
  });
}

async function waitForJob<Progress, Result>(
  context: CliContext,
  client: Client,
  job: Job<Progress, Result>,
  { flags, scope, workflowId }: { flags: JobFlags; scope: JobScope; workflowId: string },
): Promise<void> {
  let printed = "";
  const onProgress = (state: JobState<Progress>): void => {
    const line = standingText(job, state);
    if (line !== printed) printNote(context, line);
    printed = line;
  };
  const waitMs = typeof flags.wait === "number" ? flags.wait * 1_000 : undefined;
  const { signal } = context;
  const followed = await followJob<Progress, Result>(client, workflowId, { waitMs, onProgress, signal });
  switch (followed.end) {
    case "done":
      printResult(context, flags.json, { workflowId, result: followed.result }, job.resultText(followed.result));
      if (job.failed?.(followed.result) === true) throw new CommandFailedError("");
      return;
    case "still-running": {
      const { state } = followed;
      const line = state ? `${job.progressLine(state.progress)}${troubleText(state)}` : "no worker has answered yet";
      const text = [`It goes on by itself: ${line}`, ...(job.unended === undefined ? [] : [job.unended])];
      printResult(context, flags.json, { workflowId, state: state ?? null }, text.join("\n"));
      return;
    }
    case "needs-an-operator": {
      const lines = followed.state.attentions.flatMap((one) => attentionLines(one, job, scope));
      printResult(context, flags.json, { workflowId, state: followed.state }, lines.join("\n"));
      throw new CommandFailedError("");
    }
  }
}

/** What a job needs an operator for, and the commands that resolve it. */
export function attentionLines(
  attention: Attention,
  { start, argument }: Pick<Job<never, never>, "start" | "argument">,
  { connection, businessId: business }: JobScope,
): string[] {
  const [group = ""] = start.split(" ");
  const scope = { connection, ...(business !== undefined && { business }) };
  return linesOfAttention(attention, {
    commands: answerLines(attention, { group, operands: argument === undefined ? [] : [argument] }, scope),
  });
}

/** How far it is, what it waits for, and what is wrong with the service. */
export function standingText<Progress>(
  { progressLine }: Pick<Job<Progress, never>, "progressLine">,
  state: JobState<Progress>,
): string {
  return `${progressLine(state.progress)}; waits for ${state.waitingFor}${troubleText(state)}`;
}

function troubleText({ serviceTrouble }: Pick<JobState<unknown>, "serviceTrouble">): string {
  return serviceTrouble ? `. ${troubleInWords(serviceTrouble)}, as far as calls show` : "";
}

const LOOK_EVERY_MS = 500;
/** A worker that runs has answered by then, also where the caller's time is up. */
const LEAST_LOOK_MS = 2_000;

type Followed<Progress, Result> =
  | { end: "done"; result: Result }
  /** It waits for an operator, and goes on by itself once that is resolved. */
  | { end: "needs-an-operator"; state: JobState<Progress> }
  /** The state as it was seen last; undefined where no worker has answered. */
  | { end: "still-running"; state: JobState<Progress> | undefined };

interface Following<Progress> {
  /** How long to wait; absent: until it ends. */
  waitMs: number | undefined;
  onProgress: (state: JobState<Progress>) => void;
  signal: AbortSignal;
}

/**
 * Waits for a job, over all its runs, and tells how far it is. Where the time to wait is up, no answer is no failure: the
 * job goes on.
 * @throws NoAnswerError, NoWorkerError where no worker answers; the workflow's failure
 */
export async function followJob<Progress, Result>(
  client: Client,
  workflowId: string,
  { waitMs = Number.POSITIVE_INFINITY, onProgress, signal }: Following<Progress>,
): Promise<Followed<Progress, Result>> {
  const deadlineMs = Date.now() + waitMs;
  let state: JobState<Progress> | undefined;
  for (;;) {
    const run = await client.workflow.getHandle(workflowId).describe();
    if (run.status.name !== "RUNNING") return { end: "done", result: await resultOf<Result>(client, workflowId) };
    const leftMs = deadlineMs - Date.now();
    const withinMs = Math.min(ANSWER_WITHIN_MS, Math.max(leftMs, LEAST_LOOK_MS));
    try {
      state = await stateOfJob<Progress>(client, run, { withinMs, signal });
      onProgress(state);
      if (state.attentions.length > 0) return { end: "needs-an-operator", state };
    } catch (error) {
      if (!(error instanceof NoAnswerError) || leftMs > ANSWER_WITHIN_MS) throw error;
    }
    if (Date.now() >= deadlineMs) return { end: "still-running", state };
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

/**
 * Where a job that runs stands, with what its pending calls have met.
 * @throws NoAnswerError, NoWorkerError where no worker answers
 */
export async function stateOfJob<Progress>(
  client: Client,
  run: WorkflowExecutionDescription,
  options: { withinMs?: number; signal?: AbortSignal } = {},
): Promise<JobState<Progress>> {
  const handle = client.workflow.getHandle(run.workflowId);
  const ask = () => handle.query<JobState<Progress>>(STATE_QUERY);
  const state = await answeredInTime(client, queryOf(run.workflowId), ask, options);
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
