import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from "@temporalio/client";

import { REFUSALS } from "../contract/calls.ts";
import { type ClosedRun, endedInWords, type ClosedStatus } from "../contract/closed-run.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { SEARCH_ATTRIBUTES, STATE_QUERY, UPDATES, WORKFLOW_TYPES } from "../contract/names.ts";
import { nairobiTime } from "../contract/nairobi-date.ts";
import type { SaleOutcome } from "../contract/sale.ts";
import { areSettled } from "../contract/stock-movement.ts";
import { isUnreadable, isWithoutAnswer } from "./answered-in-time.ts";
import { attributesOf } from "./attributes.ts";
import { within } from "./bound.ts";
import { NotAllowedError } from "./errors.ts";

const STATUSES: Readonly<Record<string, ClosedStatus>> = {
  TERMINATED: "terminated",
  FAILED: "failed",
  TIMED_OUT: "timed-out",
  CANCELLED: "canceled",
};

/** How long whoever is refused waits for a worker to say that nothing is left to do. */
const SETTLED_WITHIN_MS = 3_000;

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

/** Whether each run of the workflow failed by the same refusal, so that none has sent anything. */
export async function wasRefusedEachTime(client: Client, workflowId: string, refusal: string): Promise<boolean> {
  for await (const run of client.workflow.list({ query: `WorkflowId = ${JSON.stringify(workflowId)}` }))
    if ((await refusalOf(client, run)) !== refusal) return false;
  return true;
}

async function closeEventOf(client: Client, { workflowId, runId }: RunFacts) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    historyEventFilterType: CLOSE_EVENT,
  });
  return history?.events?.at(-1);
}

/** The command line puts in its place the whole command. */
export const RESTART_COMMAND = "`fiscalflow sale restart`";
/** The command line adds the command. */
export const REFUND_ALLOWED = "Allowed: a refund.";
const RESTART = `restart it (${RESTART_COMMAND}), then answer what it asks.`;

/** Whether only its refund window may have been open when it ended. */
export function endedAsCompleted(
  execution: Pick<WorkflowExecutionInfo, "status" | "type" | "typedSearchAttributes">,
): boolean {
  const { status, type } = execution;
  const attributes = attributesOf(execution);
  const isSigned = type === WORKFLOW_TYPES.sale && attributes.get(SEARCH_ATTRIBUTES.stage) === "completed";
  return isSigned && closedStatusOf(status.name) !== undefined && !attributes.has(SEARCH_ATTRIBUTES.attention);
}

/** Of a sale: only its refund window was open. */
export function hasNoWorkLeft({ stage, refund, attentions, stockMovements }: WorkflowState): boolean {
  return stage === "completed" && !refund && attentions.length === 0 && areSettled(stockMovements);
}

/** What is left to do about a sale: in words, which follow a sentence, and which updates are allowed. */
export interface LeftToDo {
  words: string;
  allowed: readonly string[];
}

const TO_BE_REFUNDED: LeftToDo = { words: ` It is completed. ${REFUND_ALLOWED}`, allowed: [UPDATES.refund] };

/** Of a sale that has finished. No worker is needed. */
export async function leftToDo(client: Client, { workflowId, runId }: RunFacts): Promise<LeftToDo> {
  const outcome = (await client.workflow.getHandle(workflowId, runId).result()) as SaleOutcome;
  const { stage, creditNote, numberTaken } = outcome;
  if (stage === "cancelled") {
    const number = numberTaken ? ", under another number" : "";
    const words = ` It is cancelled, and was not signed. If it is to be sold after all, start it again${number}.`;
    return { words, allowed: [] };
  }
  if (stage !== "credited") return TO_BE_REFUNDED;
  const by = creditNote ? ` by ${creditNote.traderInvoiceNumber}` : "";
  return { words: ` It is credited${by}: nothing is left to do.`, allowed: [] };
}

/** Of a run that ended without an outcome: whether a worker says that it left no work. */
export async function isSettled(client: Client, run: WorkflowExecutionDescription): Promise<boolean> {
  if (!endedAsCompleted(run)) return false;
  const handle = client.workflow.getHandle(run.workflowId, run.runId);
  try {
    return hasNoWorkLeft(await within(client, SETTLED_WITHIN_MS, () => handle.query<WorkflowState>(STATE_QUERY)));
  } catch (error) {
    if (isUnreadable(error) || isWithoutAnswer(error)) return false;
    throw error;
  }
}

/**
 * Why no update reaches a sale that is closed, and what is possible in its place.
 * Undefined for other workflows, and where Temporal knows no such workflow.
 * @param update that was refused. Where even a refund was, a sale that ended has to be restarted
 */
export async function refusedByClosed(
  client: Client,
  workflowId: string,
  update: string,
): Promise<NotAllowedError | undefined> {
  const run = await lastRunOf(client, workflowId);
  if (run?.type !== WORKFLOW_TYPES.sale || run.status.name === "RUNNING") return undefined;
  const closed = await closedRunOf(client, run);
  if (closed) {
    const ended = `The workflow ${workflowId} ${endedInWords(closed)} on ${nairobiTime(closed.atMs)}: no update reaches it`;
    const { words, allowed } = TO_BE_REFUNDED;
    return update !== UPDATES.refund && (await isSettled(client, run))
      ? new NotAllowedError(`${ended}, and nothing is left to do in it.${words}`, [], allowed)
      : new NotAllowedError(`${ended}, and nothing carries it on. Allowed: ${RESTART}`);
  }
  const { words, allowed } = await leftToDo(client, run);
  const finished = `The sale ${workflowId} is finished and closed: it waits for nothing.${words}`;
  return new NotAllowedError(finished, [], allowed);
}
