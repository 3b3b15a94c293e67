import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { SEARCH_ATTRIBUTES } from "../../contract/index.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { closedStatusOf, endedAsCompleted, lastRunOf, type RunFacts, wasRefused } from "../../starter/closed-run.ts";
import { askSales } from "./ask-sales.ts";
import { inParallel } from "./in-parallel.ts";
import { quoted } from "./visibility-query.ts";

/** Runs that are looked at one by one, at a time. */
const CONCURRENCY = 20;
/** Ids that are asked for in one query. */
const MOST_IN_QUERY = 100;

/** The runs of these workflows, as Temporal lists them, in a query for each hundred. */
export async function* runsOf(client: Client, ids: Iterable<string>): AsyncGenerator<WorkflowExecutionInfo> {
  const wanted = [...new Set(ids)].map(quoted);
  for (let from = 0; from < wanted.length; from += MOST_IN_QUERY)
    yield* client.workflow.list({ query: `WorkflowId IN (${wanted.slice(from, from + MOST_IN_QUERY).join(", ")})` });
}

type Runs = ReadonlyMap<string, readonly WorkflowExecutionInfo[]>;

/** Every run of these workflows, by workflow id. */
export async function runsById(executions: readonly { workflowId: string }[], client: Client): Promise<Runs> {
  const runs = new Map<string, WorkflowExecutionInfo[]>();
  const ids = executions.map(({ workflowId }) => workflowId);
  for await (const run of runsOf(client, ids)) runs.set(run.workflowId, [...(runs.get(run.workflowId) ?? []), run]);
  return runs;
}

/** Whether no later run is listed. */
export function isNewest({ workflowId, startTime }: WorkflowExecutionInfo, runs: Runs): boolean {
  return (runs.get(workflowId) ?? []).every((other) => other.startTime <= startTime);
}

/**
 * Lists do not tell a workflow's last run from those before it, after a reset or a restart. One that had completed, and
 * is reset, is listed beside the run that follows it.
 */
export async function withoutFollowed<Execution extends RunFacts>(
  executions: readonly Execution[],
  client: Client,
): Promise<Execution[]> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { workflowId } of executions) (seen.has(workflowId) ? repeated : seen).add(workflowId);
  const isLast = await inParallel(executions, CONCURRENCY, async (execution) => {
    if (closedStatusOf(execution.status.name) === undefined && !repeated.has(execution.workflowId)) return true;
    return (await lastRunOf(client, execution.workflowId))?.runId === execution.runId;
  });
  return executions.filter((_, index) => isLast[index]);
}

/**
 * Runs that a restart would carry on. What was refused had issued nothing, and its caller was told; of some only the
 * refund window was open.
 */
export async function withWorkLeft(
  executions: readonly WorkflowExecutionInfo[],
  client: Client,
): Promise<WorkflowExecutionInfo[]> {
  const ask = askSales(client);
  const isThrough = await inParallel(
    executions,
    CONCURRENCY,
    async (execution) =>
      (await wasRefused(client, execution)) || (endedAsCompleted(execution) && (await ask.hasNoWorkLeft(execution))),
  );
  return executions.filter((_, index) => isThrough[index] !== true);
}

/**
 * When each of these began (Unix milliseconds), by workflow id: a restart, a reset or a late refund starts a new run,
 * and what it carries on began with the first one. Runs that Temporal has deleted do not count.
 * @param executions the last run of each
 */
export async function firstStarts(
  executions: readonly Pick<WorkflowExecutionInfo, "workflowId" | "startTime">[],
  runs: Runs,
  client: Client,
): Promise<ReadonlyMap<string, number>> {
  const starts = await inParallel(executions, CONCURRENCY, async ({ workflowId, startTime }) => {
    let firstMs = startTime.getTime();
    const before = (runs.get(workflowId) ?? []).filter((run) => run.startTime.getTime() < firstMs);
    for (const run of before.toSorted((one, other) => other.startTime.getTime() - one.startTime.getTime())) {
      if (await leftNothing(run, client)) break;
      firstMs = run.startTime.getTime();
    }
    return [workflowId, firstMs] as const;
  });
  return new Map(starts);
}

/** Whether the number was free again after this run: the next one carries on nothing of it. */
async function leftNothing(run: WorkflowExecutionInfo, client: Client): Promise<boolean> {
  const isCancelled = attributesOf(run).get(SEARCH_ATTRIBUTES.stage) === "cancelled";
  return (run.status.name === "COMPLETED" && isCancelled) || (await wasRefused(client, run));
}
