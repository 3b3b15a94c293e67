import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";

import { loadConfig } from "../../config/index.ts";
import {
  aboutWorkflow,
  type Attention,
  type JobState,
  MAIN_TASK_QUEUE,
  MEANING,
  nairobiTime,
  type Owner,
  plainLine,
  troubleInWords,
  type WorkflowType,
} from "../../contract/index.ts";
import { CommandFailedError } from "../cli-error.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { answerLines } from "../operate/operating-commands.ts";
import { printNote, printResult } from "../output.ts";
import { evidenceLines } from "../sale/evidence-lines.ts";
import type { Scope } from "../sale/scope.ts";
import { businessOf, servedBusinessOf } from "./business-of.ts";
import { followJob } from "./follow-job.ts";
import type { JobCommand, JobFlags, JobScope, ScopeOf } from "./job-command.ts";

export interface Jobs {
  client: Client;
  /** What the flags name. @throws UsageError */
  scopeOf: (flags: Scope) => JobScope;
}

/**
 * @param scopeOf default: a business of the compliance service
 * @throws ConfigError, TemporalError, and what the work throws
 */
export async function withJobs<Result>(
  context: CliContext,
  work: (jobs: Jobs) => Promise<Result>,
  scopeOf: ScopeOf = businessOf,
): Promise<Result> {
  const config = loadConfig({ env: context.env });
  return withTemporal(context, async ({ client }) => work({ client, scopeOf: (flags) => scopeOf(config, flags) }));
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

export interface JobRequest {
  flags: JobFlags;
  /** What is asked for beside the business: a job that runs already does not do it. */
  options: Record<string, unknown>;
}

/** Starts the job, or finds the one that runs; with `--wait` follows it to its end. */
export async function runJob<Progress, Result>(
  context: CliContext,
  command: JobCommand<Progress, Result>,
  { flags, options }: JobRequest,
): Promise<void> {
  await withJobs(
    context,
    async ({ client, scopeOf }) => {
      const scope = scopeOf(flags);
      const workflowId = command.workflowId(scope);
      const started = await startJob(client, command.workflow, workflowId, { ...scope, ...command.input, ...options });
      const asked = !started && command.askedBy !== undefined;
      if (asked) await client.workflow.getHandle(workflowId).signal(command.askedBy ?? "", options);
      const how = started
        ? "started"
        : asked
          ? "runs already, and does what is asked when that is done"
          : "runs already";
      printNote(context, `The ${command.noun} ${how} (${workflowId}).`);
      if (!started && !asked && Object.keys(options).length > 0) {
        const again = `Wait until it has ended, then ask again for ${Object.keys(options).join(", ")}.`;
        throw new CommandFailedError(
          `Another ${command.noun} of this business runs, and nothing was started. ${again}`,
        );
      }
      if (flags.wait === undefined) {
        const data = { workflowId, result: started ? "started" : "running" };
        printResult(context, flags.json, data, `${workflowId}: ${how}`);
        return;
      }
      await follow(context, client, command, { flags, scope, workflowId });
    },
    command.scopeOf ?? servedBusinessOf,
  );
}

async function follow<Progress, Result>(
  context: CliContext,
  client: Client,
  command: JobCommand<Progress, Result>,
  { flags, scope, workflowId }: { flags: JobFlags; scope: JobScope; workflowId: string },
): Promise<void> {
  let printed = "";
  const onProgress = (state: JobState<Progress>): void => {
    const line = standingText(command, state);
    if (line !== printed) printNote(context, line);
    printed = line;
  };
  const waitMs = typeof flags.wait === "number" ? flags.wait * 1_000 : undefined;
  const { signal } = context;
  const followed = await followJob<Progress, Result>(client, workflowId, { waitMs, onProgress, signal });
  switch (followed.end) {
    case "done":
      printResult(context, flags.json, { workflowId, result: followed.result }, command.resultText(followed.result));
      if (command.failed?.(followed.result) === true) throw new CommandFailedError("");
      return;
    case "still-running": {
      const line = followed.state
        ? `${command.progressLine(followed.state.progress)}${troubleText(followed.state)}`
        : "no worker has answered yet";
      const text = [`It goes on by itself: ${line}`, ...(command.unended === undefined ? [] : [command.unended])];
      printResult(context, flags.json, { workflowId, state: followed.state ?? null }, text.join("\n"));
      return;
    }
    case "needs-an-operator": {
      const lines = followed.state.attentions.flatMap((one) => attentionLines(one, command, scope));
      printResult(context, flags.json, { workflowId, state: followed.state }, lines.join("\n"));
      throw new CommandFailedError("");
    }
  }
}

/** What a job needs an operator for, and the commands that resolve it. */
export function attentionLines(
  attention: Attention,
  { group, argument }: { group: string; argument?: string },
  { connection, businessId: business }: JobScope,
): string[] {
  const { code, subject, message, sinceMs } = attention;
  const operands = argument === undefined ? [] : [argument];
  const commands = answerLines(
    attention,
    { group, operands },
    { connection, ...(business !== undefined && { business }) },
  );
  return [
    `Needs an operator: ${code}${subject === undefined ? "" : ` (${subject})`}, since ${nairobiTime(sinceMs)}`,
    `  ${MEANING[code]}. ${message}`,
    ...evidenceLines(attention).map((line) => `  ${line}`),
    ...commands.map((command) => `    ${command}`),
  ].map(plainLine);
}

/** How far it is, what it waits for, and what is wrong with the service. */
export function standingText<Progress>(
  { progressLine }: Pick<JobCommand<Progress, never>, "progressLine">,
  state: JobState<Progress>,
): string {
  return `${progressLine(state.progress)}; waits for ${state.waitingFor}${troubleText(state)}`;
}

function troubleText({ serviceTrouble }: Pick<JobState<unknown>, "serviceTrouble">): string {
  return serviceTrouble ? `. ${troubleInWords(serviceTrouble)}, as far as calls show` : "";
}
