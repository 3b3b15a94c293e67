import type { WorkflowExecutionInfo } from "@temporalio/client";

import { nairobiInstant, nairobiTime, NO_BUSINESS, SEARCH_ATTRIBUTES } from "../../contract/index.ts";
import type { CliContext } from "../context.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { listExecutions } from "../list-executions.ts";
import { plainTable } from "../plain-table.ts";
import { inParallel } from "../sale/in-parallel.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { jobsQuery } from "./jobs-query.ts";

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

export async function listJobs(context: CliContext, flags: JobsFlags): Promise<void> {
  const { limit, json } = flags;
  const { CALLS_AT_A_TIME, jobOutcomes } = await import("./job-outcomes.ts");
  const { chainStartMs } = await import("./chain-start.ts");
  const { serviceTroubles, troubleLine } = await import("../sale/service-troubles.ts");
  await listExecutions(
    context,
    { query: jobsQuery(flags), limit, json },
    async (jobs, client) => {
      const outcomes = await jobOutcomes(client, jobs);
      const starts = await inParallel(jobs, CALLS_AT_A_TIME, (job) => chainStartMs(client, job));
      return jobs.map((job, index) => listed(job, outcomes[index] ?? null, starts[index] ?? job.startTime.getTime()));
    },
    table,
    async (client) => (await serviceTroubles(client, flags, "jobs")).map(troubleLine),
  );
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
