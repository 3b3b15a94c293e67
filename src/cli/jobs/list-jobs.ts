import type { WorkflowExecutionInfo } from "@temporalio/client";

import { DEFAULT_CONNECTION, NO_BUSINESS, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from "../../contract/index.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { plainTable } from "../plain-table.ts";
import { printNote, printResult } from "../print-result.ts";
import { nairobiTime } from "../sale/nairobi-time.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { shellWord } from "../sale/shell-word.ts";
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
  startedAt: string;
  workflowId: string;
  /** Shows the job; absent where its id is too long to tell what it was called with. */
  command?: string;
}

export async function listJobs(context: CliContext, flags: JobsFlags): Promise<void> {
  const query = jobsQuery(flags);
  await withTemporal(context, async ({ client }) => {
    const jobs: ListedJob[] = [];
    const pageSize = Math.min(flags.limit, 1_000);
    for await (const execution of client.workflow.list({ query, pageSize })) {
      jobs.push(listed(execution));
      if (jobs.length >= flags.limit) break;
    }
    const { count } = await client.workflow.count(query);
    printResult(context, flags.json, jobs, jobs.length === 0 ? "None." : table(jobs));
    if (count > jobs.length) printNote(context, `${jobs.length} of ${count}; --limit shows more.`);
  });
}

function listed({ workflowId, type, status, startTime, typedSearchAttributes }: WorkflowExecutionInfo): ListedJob {
  const attributes = new Map(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, String(value)]));
  const business = attributes.get(SEARCH_ATTRIBUTES.business);
  const command = commandOf(type, workflowId);
  return {
    type,
    business: business === undefined || business === NO_BUSINESS ? null : business,
    attention: attributes.get(SEARCH_ATTRIBUTES.attention) ?? null,
    open: status.name === "RUNNING",
    startedAt: startTime.toISOString(),
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
  const head = ["JOB", "NEEDS A PERSON", "STARTED", "SHOWN BY"];
  const rows = jobs.map(({ workflowId, open, attention, startedAt, command }) => [
    `${workflowId}${open ? "" : " (closed)"}`,
    attention ?? "-",
    nairobiTime(Date.parse(startedAt)),
    open ? (command ?? "-") : "-",
  ]);
  return plainTable(head, rows);
}
