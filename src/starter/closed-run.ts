import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from "@temporalio/client";

import { FAILURES } from "../contract/calls.ts";
import { type ClosedRun, endedInWords, type ClosedStatus } from "../contract/closed-run.ts";
import { WORKFLOW_TYPES } from "../contract/names.ts";
import { nairobiTime } from "../contract/nairobi-date.ts";
import { NotAllowedError } from "./errors.ts";

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

/** By these a run tells its caller what to correct: it has issued nothing, so nothing is to be carried on. */
const REFUSALS: readonly unknown[] = [FAILURES.invalidInput, FAILURES.conflict, FAILURES.notAllowed, FAILURES.notFound];

/** Whether the run failed because what was asked of it was refused. */
export async function wasRefused(client: Client, run: RunFacts): Promise<boolean> {
  if (closedStatusOf(run.status.name) !== "failed") return false;
  const end = await closeEventOf(client, run);
  let failure = end?.workflowExecutionFailedEventAttributes?.failure;
  while (failure && !REFUSALS.includes(failure.applicationFailureInfo?.type)) failure = failure.cause;
  return Boolean(failure);
}

async function closeEventOf(client: Client, { workflowId, runId }: RunFacts) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    historyEventFilterType: CLOSE_EVENT,
  });
  return history?.events?.at(-1);
}

const RESTART = "restart it (`fiscalflow sale restart`), then answer what it asks.";

/** After what is said of a sale. */
export const SEE_ITS_CREDIT_NOTE = " Its credit note is a workflow of its own: on the command line, add --credit-note.";

/** Of the workflows that are closed: what they are called, and what is possible once they completed, or ended early. */
const CLOSED_KINDS: Readonly<Record<string, { noun: string; next: string; again: string }>> = {
  [WORKFLOW_TYPES.sale]: {
    noun: "sale",
    next: ` Allowed: a refund, where it is completed.${SEE_ITS_CREDIT_NOTE}`,
    again: RESTART,
  },
  [WORKFLOW_TYPES.creditNote]: {
    noun: "credit note",
    next: "",
    again: RESTART,
  },
  [WORKFLOW_TYPES.correctSale]: {
    noun: "correction",
    next: "",
    again: "ask for the same correction again (`fiscalflow sale correct`), which carries it on.",
  },
};

/**
 * Why no update reaches a sale, a credit note or a correction that is closed, and what is possible in its place.
 * Undefined for others, and where Temporal knows no such workflow.
 */
export async function refusedByClosed(client: Client, workflowId: string): Promise<NotAllowedError | undefined> {
  const run = await lastRunOf(client, workflowId);
  const kind = run && CLOSED_KINDS[run.type];
  if (!kind || run.status.name === "RUNNING") return undefined;
  const { noun, next, again } = kind;
  const closed = await closedRunOf(client, run);
  if (closed)
    return new NotAllowedError(
      `The workflow ${workflowId} ${endedInWords(closed)} on ${nairobiTime(closed.atMs)}: no update reaches it, and nothing carries it on. Allowed: ${again}`,
    );
  return new NotAllowedError(`The ${noun} ${workflowId} is finished and closed: it waits for nothing.${next}`);
}
