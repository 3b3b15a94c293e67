import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

import {
  closedInWords,
  DEFAULT_CONNECTION,
  endedInWords,
  nairobiInstant,
  nairobiTime,
  NO_BUSINESS,
  SEARCH_ATTRIBUTES,
} from "../../contract/index.ts";
import { attributesOf } from "../../starter/sale-key.ts";
import { endOf, lastRunOf } from "../../starter/runs.ts";
import { CommandFailedError } from "../cli-error.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { type Column, printList } from "../lists/columns.ts";
import { printResult } from "../output.ts";
import { inParallel } from "../sale/in-parallel.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { serviceTroubles, troubleLine } from "../sale/service-troubles.ts";
import { jobsQuery } from "../sale/visibility-query.ts";
import { jobOf } from "./jobs.ts";
import { attentionLines, resultOf, standingText, stateOfJob } from "./run-job.ts";

/** A page of Temporal's list has at most so many. */
const LARGEST_PAGE = 1_000;
/** Temporal's list has neither results nor the first run of each job: each is a call or two. */
const CALLS_AT_A_TIME = 8;

export interface JobsFlags extends Scope, ResultFlags {
  attention?: boolean;
  limit: number;
}

interface ListedJob {
  type: string;
  business: string | null;
  attention: string | null;
  open: boolean;
  /** What a closed job ended with, in a few words; null while it is open, and once Temporal has deleted it. */
  outcome: string | null;
  /** Its first run, where it has continued as new. */
  startedAt: string;
  workflowId: string;
}

const COLUMNS: readonly Column<ListedJob>[] = [
  { head: "JOB", of: ({ workflowId, open }) => `${workflowId}${open ? "" : " (closed)"}` },
  { head: "NEEDS AN OPERATOR", of: "attention" },
  { head: "STARTED", of: ({ startedAt }) => nairobiTime(Date.parse(startedAt)) },
  { head: "OUTCOME", of: "outcome" },
];

/** Prints what Temporal lists, up to a limit, and says where there is more. */
export async function listJobs(context: CliContext, flags: JobsFlags): Promise<void> {
  const { limit, json } = flags;
  const query = jobsQuery(flags);
  await withTemporal(context, async ({ client }) => {
    const [found, troubles] = await Promise.all([
      firstOf(client, query, limit + 1),
      serviceTroubles(client, flags, "jobs"),
    ]);
    const rows = await inParallel(found.slice(0, limit), CALLS_AT_A_TIME, (job) => listed(client, job));
    const more =
      found.length > limit
        ? `${limit} of ${(await client.workflow.count(query)).count}, open ones first, then the latest closed ones; --limit shows more.`
        : undefined;
    printList(context, json, { rows, columns: COLUMNS, remarks: troubles.map(troubleLine), more });
  });
}

async function firstOf(client: Client, query: string, most: number): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const execution of client.workflow.list({ query, pageSize: Math.min(most, LARGEST_PAGE) })) {
    found.push(execution);
    if (found.length >= most) break;
  }
  return found;
}

async function listed(client: Client, execution: WorkflowExecutionInfo): Promise<ListedJob> {
  const { workflowId, type, status } = execution;
  const attributes = attributesOf(execution);
  const business = attributes.get(SEARCH_ATTRIBUTES.business);
  return {
    type,
    business: business === undefined || business === NO_BUSINESS ? null : business,
    attention: attributes.get(SEARCH_ATTRIBUTES.attention) ?? null,
    open: status.name === "RUNNING",
    outcome: await outcomeOf(client, execution),
    startedAt: nairobiInstant(await chainStartMs(client, execution)),
    workflowId,
  };
}

async function outcomeOf(client: Client, job: WorkflowExecutionInfo): Promise<string | null> {
  if (job.status.name === "RUNNING") return null;
  const { workflowId, runId } = job;
  try {
    const { closed } = (await endOf(client, job)) ?? {};
    if (closed) return closedInWords(closed);
    const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
    return (
      jobOf(job)
        ?.resultText((await handle.result()) as never)
        .split("\n")[0] ?? null
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
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

/**
 * Prints where a job stands, with the commands that resolve what it needs an operator for, or what it ended with.
 * @throws CommandFailedError; NoAnswerError where no worker answers for a job that runs
 */
export async function showJob(context: CliContext, workflowId: string, { json }: ResultFlags): Promise<void> {
  await withTemporal(context, async ({ client }) => {
    const run = await lastRunOf(client, workflowId);
    const job = run && jobOf(run);
    if (!run || !job)
      throw new CommandFailedError(
        `Temporal has no job with the id ${workflowId}. List the jobs: fiscalflow jobs list; a sale: fiscalflow sale show`,
      );
    const lead = `${workflowId}, started ${nairobiTime(await chainStartMs(client, run))}: `;
    const { closed } = (await endOf(client, run)) ?? {};
    if (closed) return printResult(context, json, { workflowId, closed }, `${lead}${endedInWords(closed)}`);
    if (run.status.name !== "RUNNING") {
      const result = await resultOf<never>(client, workflowId);
      return printResult(context, json, { workflowId, result }, `${lead}has ended\n${job.resultText(result)}`);
    }
    const state = await stateOfJob<never>(client, run);
    const business = attributesOf(run).get(SEARCH_ATTRIBUTES.business) ?? NO_BUSINESS;
    const scope = {
      connection: workflowId.split("/")[1] ?? DEFAULT_CONNECTION,
      ...(business !== NO_BUSINESS && job.argument === undefined && { businessId: business }),
    };
    const attentions = state.attentions.flatMap((one) => attentionLines(one, job, scope));
    const text = [`${lead}${standingText(job, state)}`, ...attentions].join("\n");
    printResult(context, json, { workflowId, state }, text);
  });
}
