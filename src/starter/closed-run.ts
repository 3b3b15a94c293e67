import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from "@temporalio/client";

import { REFUSALS } from "../contract/errors.ts";
import { type ClosedRun, type ClosedStatus, restartedOf } from "../contract/closed-run.ts";

const STATUSES: Readonly<Record<string, ClosedStatus>> = {
  TERMINATED: "terminated",
  FAILED: "failed",
  TIMED_OUT: "timed-out",
  CANCELLED: "canceled",
};

/** HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT: the last event alone. */
const CLOSE_EVENT = 2;

/** How a run ended without an outcome, by the SDK's name of its status; undefined where it runs, or completed. */
export function closedStatusOf(statusName: string): ClosedStatus | undefined {
  return STATUSES[statusName];
}

export type RunFacts = Pick<WorkflowExecutionDescription, "workflowId" | "runId" | "status" | "closeTime">;

/** The last run of a workflow; undefined where Temporal does not know it, also if a list still does. */
export async function lastRunOf(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * How the run ended without an outcome. Undefined while it runs, and where it completed. @throws WorkflowNotFoundError
 */
export async function closedRunOf(client: Client, run: RunFacts): Promise<ClosedRun | undefined> {
  const status = closedStatusOf(run.status.name);
  if (status === undefined) return undefined;
  const { closeTime } = run;
  const end = await closeEventOf(client, run);
  const terminated = end?.workflowExecutionTerminatedEventAttributes;
  const reason = terminated?.reason || end?.workflowExecutionFailedEventAttributes?.failure?.message;
  return {
    status,
    atMs: closeTime?.getTime() ?? 0,
    ...(reason && { reason }),
    ...(terminated?.identity && { by: terminated.identity }),
  };
}

/** Whether the run failed because what was asked of it was refused. */
export async function wasRefused(client: Client, run: RunFacts): Promise<boolean> {
  return (await refusalOf(client, run)) !== undefined;
}

/** The type of the failure by which what was asked of the run was refused; undefined where it was not. */
export async function refusalOf(client: Client, run: RunFacts): Promise<string | undefined> {
  if (closedStatusOf(run.status.name) !== "failed") return undefined;
  const end = await closeEventOf(client, run);
  let failure = end?.workflowExecutionFailedEventAttributes?.failure;
  while (failure && !REFUSALS.includes(failure.applicationFailureInfo?.type)) failure = failure.cause;
  return failure?.applicationFailureInfo?.type ?? undefined;
}

async function closeEventOf(client: Client, { workflowId, runId }: RunFacts) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    historyEventFilterType: CLOSE_EVENT,
  });
  return history?.events?.at(-1);
}

/** How far a run came, as its history has it: whether any worker has begun it, and whether its document may have been sent. */
export async function doneIn(
  client: Client,
  { workflowId, runId, memo }: Pick<WorkflowExecutionInfo, "workflowId" | "runId" | "memo">,
): Promise<{ isBegun: boolean; sent: boolean }> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const tasks = (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
  return {
    isBegun: (events ?? []).some((event) => event.workflowTaskStartedEventAttributes),
    sent: tasks.some(({ activityType }) => activityType?.name === "createSale") || restartedOf(memo)?.sent === true,
  };
}
