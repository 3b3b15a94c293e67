import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { nairobiInstant, nairobiTime, NO_BUSINESS, SEARCH_ATTRIBUTES } from "../../contract/index.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../output.ts";
import { plainTable } from "../plain-table.ts";
import { inParallel } from "../sale/in-parallel.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { serviceTroubles, troubleLine } from "../sale/service-troubles.ts";
import { chainStartMs } from "./follow-job.ts";
import { CALLS_AT_A_TIME, jobOutcomes } from "./job-outcomes.ts";
import { jobsQuery } from "./jobs-query.ts";

/** A page of Temporal's list has at most so many. */
const LARGEST_PAGE = 1_000;

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

/** Prints what Temporal lists, up to a limit, and says where there is more. */
export async function listJobs(context: CliContext, flags: JobsFlags): Promise<void> {
  const { limit, json } = flags;
  const query = jobsQuery(flags);
  await withTemporal(context, async ({ client }) => {
    const [found, troubles] = await Promise.all([
      firstOf(client, query, limit + 1),
      serviceTroubles(client, flags, "jobs"),
    ]);
    const shown = found.slice(0, limit);
    const outcomes = await jobOutcomes(client, shown);
    const starts = await inParallel(shown, CALLS_AT_A_TIME, (job) => chainStartMs(client, job));
    const jobs = shown.map((job, at) => listed(job, outcomes[at] ?? null, starts[at] ?? job.startTime.getTime()));
    const remarks = troubles.map(troubleLine);
    const lead = remarks.length === 0 ? "" : `${remarks.join("\n")}\n\n`;
    printResult(context, json, jobs, `${lead}${jobs.length === 0 ? "None." : table(jobs)}`);
    if (json === true) for (const remark of remarks) printNote(context, remark);
    if (found.length <= limit) return;
    const { count } = await client.workflow.count(query);
    printNote(context, `${jobs.length} of ${count}, open ones first, then the latest closed ones; --limit shows more.`);
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

function listed(execution: WorkflowExecutionInfo, outcome: string | null, startedAtMs: number): ListedJob {
  const { workflowId, type, status } = execution;
  const attributes = attributesOf(execution);
  const business = attributes.get(SEARCH_ATTRIBUTES.business);
  return {
    type,
    business: business === undefined || business === NO_BUSINESS ? null : business,
    attention: attributes.get(SEARCH_ATTRIBUTES.attention) ?? null,
    open: status.name === "RUNNING",
    outcome,
    startedAt: nairobiInstant(startedAtMs),
    workflowId,
  };
}

function table(jobs: readonly ListedJob[]): string {
  const head = ["JOB", "NEEDS AN OPERATOR", "STARTED", "OUTCOME"];
  const rows = jobs.map(({ workflowId, open, attention, startedAt, outcome }) => [
    `${workflowId}${open ? "" : " (closed)"}`,
    attention ?? "-",
    nairobiTime(Date.parse(startedAt)),
    outcome ?? "-",
  ]);
  return plainTable(head, rows);
}
