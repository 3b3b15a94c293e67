import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
} from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";

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
import { withTemporal } from "../connect-temporal.ts";
import { type CliContext, CommandFailedError } from "../context.ts";
import { answerLines } from "../operate/operating-commands.ts";
import type { ResultFlags, Scope } from "../options.ts";
import { printNote, printResult } from "../output.ts";
import { attentionLines as linesOfAttention } from "../sale/lines.ts";
import type { Job, JobScope } from "./jobs.ts";

export interface JobFlags extends Scope, ResultFlags {
  wait?: true | number;
}

/** One run of a job at a time; it may be started again once that has ended. @returns false where it runs already */
export async function startJob(client: Client, type: WorkflowType, workflowId: string, input: Owner): Promise<boolean> {
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

/** @param options what is asked for beside the scope: a job that runs already does not do it */
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
    const how = started ? "started" : "runs already";
    printNote(context, `The ${job.noun} ${how} (${workflowId}).`);
    if (!started && Object.keys(options).length > 0) {
      const again = `Wait until it has ended, then ask again for ${Object.keys(options).join(", ")}.`;
      throw new CommandFailedError(`Another ${job.noun} runs, and nothing was started. ${again}`);
    }
    if (flags.wait === undefined) {
      const data = { workflowId, result: started ? "started" : "running" };
      printResult(context, flags.json, data, `${workflowId}: ${how}`);
    } else await followJob(context, client, job, { flags, scope, workflowId });
  });
}

const LOOK_EVERY_MS = 500;
const LEAST_LOOK_MS = 2_000;

/**
 * Tells how far a job is, over all its runs, until it ends or needs an operator. Where the time to wait is up, no answer
 * is no failure: the job goes on.
 * @throws CommandFailedError where it needs an operator, or ended with what is one; NoAnswerError, NoWorkerError where
 * no worker answers; the workflow's failure
 */
export async function followJob<Progress, Result>(
  context: CliContext,
  client: Client,
  job: Job<Progress, Result>,
  { flags: { wait, json }, scope, workflowId }: { flags: JobFlags; scope: JobScope; workflowId: string },
): Promise<void> {
  const { signal } = context;
  const deadlineMs = Date.now() + (typeof wait === "number" ? wait * 1_000 : Number.POSITIVE_INFINITY);
  let state: JobState<Progress> | undefined;
  let printed = "";
  for (;;) {
    const run = await client.workflow.getHandle(workflowId).describe();
    if (run.status.name !== "RUNNING") {
      const result = await resultOf<Result>(client, workflowId);
      printResult(context, json, { workflowId, result }, job.resultText(result));
      if (job.failed?.(result)) throw new CommandFailedError("");
      return;
    }
    const leftMs = deadlineMs - Date.now();
    const withinMs = Math.min(ANSWER_WITHIN_MS, Math.max(leftMs, LEAST_LOOK_MS));
    try {
      state = await stateOfJob<Progress>(client, run, { withinMs, signal });
    } catch (error) {
      if (!(error instanceof NoAnswerError) || leftMs > ANSWER_WITHIN_MS) throw error;
    }
    const line = state && standingText(job, state);
    if (line && line !== printed) printNote(context, line);
    printed = line ?? "";
    if (state && state.attentions.length > 0) {
      const lines = state.attentions.flatMap((one) => attentionLines(one, job, scope));
      printResult(context, json, { workflowId, state }, lines.join("\n"));
      throw new CommandFailedError("");
    }
    if (Date.now() >= deadlineMs) {
      const text = `It goes on by itself: ${line ?? "no worker has answered yet"}`;
      return printResult(context, json, { workflowId, state: state ?? null }, text);
    }
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

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

export function standingText<Progress>(
  { progressLine }: Pick<Job<Progress, never>, "progressLine">,
  state: JobState<Progress>,
): string {
  const { progress, waitingFor, serviceTrouble } = state;
  const trouble = serviceTrouble ? `. ${troubleInWords(serviceTrouble)}, as far as calls show` : "";
  return `${progressLine(progress)}; waits for ${waitingFor}${trouble}`;
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
  const calls = await pendingCallsOf(client, run);
  const troubles = [state.serviceTrouble, ...calls.map(({ trouble }) => trouble)];
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
