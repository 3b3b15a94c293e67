import type { WorkflowExecutionInfo } from "@temporalio/client";

import {
  DEFAULT_CONNECTION,
  nairobiInstant,
  nairobiTime,
  NO_BUSINESS,
  SEARCH_ATTRIBUTES,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import type { CliContext } from "../context.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { listExecutions } from "../list-executions.ts";
import { shellWord } from "../output.ts";
import { plainTable } from "../plain-table.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { JOB_COMMANDS, jobsQuery } from "./jobs-query.ts";

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
  startedAt: string;
  workflowId: string;
  /** Shows the job; absent where its id is too long to tell what it was called with. */
  command?: string;
}

export async function listJobs(context: CliContext, flags: JobsFlags): Promise<void> {
  const { limit, json } = flags;
  const { jobOutcomes } = await import("./job-outcomes.ts");
  const { serviceTroubles, troubleLine } = await import("../sale/service-troubles.ts");
  await listExecutions(
    context,
    { query: jobsQuery(flags), limit, json },
    async (jobs, client) => {
      const outcomes = await jobOutcomes(client, jobs);
      return jobs.map((job, index) => listed(job, outcomes[index] ?? null));
    },
    table,
    async (client) => (await serviceTroubles(client, flags, "jobs")).map(troubleLine),
  );
}

function listed(execution: WorkflowExecutionInfo, outcome: string | null): ListedJob {
  const { workflowId, type, status, startTime } = execution;
  const attributes = attributesOf(execution);
  const business = attributes.get(SEARCH_ATTRIBUTES.business);
  const command = commandOf(type, workflowId);
  return {
    type,
    business: business === undefined || business === NO_BUSINESS ? null : business,
    attention: attributes.get(SEARCH_ATTRIBUTES.attention) ?? null,
    open: status.name === "RUNNING",
    outcome,
    startedAt: nairobiInstant(startTime.getTime()),
    workflowId,
    ...(command !== undefined && { command }),
  };
}

/** From the parts of the id, which names connection and business, or connection and batch. */
function commandOf(type: string, workflowId: string): string | undefined {
  const words = JOB_COMMANDS[type];
  const [, connection = DEFAULT_CONNECTION, escaped = NO_BUSINESS] = workflowId.split("/");
  // What is bounded or escaped in ways of its own cannot be read back.
  if (words === undefined || /~|%u/.test(escaped)) return undefined;
  const last = decodeURIComponent(escaped);
  const isBatch = type === WORKFLOW_TYPES.processSyncBatch;
  return [
    `fiscalflow ${words}`,
    ...(isBatch ? [shellWord(last)] : []),
    ...(connection === DEFAULT_CONNECTION ? [] : ["--connection", connection]),
    ...(isBatch || last === NO_BUSINESS ? [] : ["--business", shellWord(last)]),
    "--wait",
  ].join(" ");
}

function table(jobs: readonly ListedJob[]): string {
  const head = ["JOB", "NEEDS AN OPERATOR", "STARTED", "OUTCOME", "SHOWN BY"];
  const rows = jobs.map(({ workflowId, open, attention, startedAt, outcome, command }) => [
    `${workflowId}${open ? "" : " (closed)"}`,
    attention ?? "-",
    nairobiTime(Date.parse(startedAt)),
    outcome ?? "-",
    open ? (command ?? "-") : "-",
  ]);
  return plainTable(head, rows);
}
