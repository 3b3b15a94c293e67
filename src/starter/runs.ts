import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { REFUSALS } from "../contract/errors.ts";
import { type ClosedRun, type ClosedStatus, restartedOf } from "../contract/messages.ts";

const STATUSES: Readonly<Record<string, ClosedStatus>> = {
  TERMINATED: "terminated",
  FAILED: "failed",
  TIMED_OUT: "timed-out",
  CANCELLED: "canceled",
};

/** `HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT`: the last event alone. */
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

/** How a run ended without an outcome, and the type of the failure by which what was asked of it was refused. */
export interface RunEnd {
  closed: ClosedRun;
  refusal?: string;
}

/** Undefined while the run is open, and where it completed. @throws WorkflowNotFoundError */
export async function endOf(client: Client, run: RunFacts): Promise<RunEnd | undefined> {
  const status = closedStatusOf(run.status.name);
  if (status === undefined) return undefined;
  const end = await closeEventOf(client, run);
  const terminated = end?.workflowExecutionTerminatedEventAttributes;
  let failure = end?.workflowExecutionFailedEventAttributes?.failure;
  const reason = terminated?.reason || failure?.message;
  while (failure && !REFUSALS.includes(failure.applicationFailureInfo?.type)) failure = failure.cause;
  const refusal = failure?.applicationFailureInfo?.type;
  return {
    closed: {
      status,
      atMs: run.closeTime?.getTime() ?? 0,
      ...(reason && { reason }),
      ...(terminated?.identity && { by: terminated.identity }),
    },
    ...(refusal && { refusal }),
  };
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

type Encoded = Parameters<Client["options"]["loadedDataConverter"]["payloadCodecs"][number]["decode"]>[0];

/** What a run was started with, whoever started it, and when (Unix milliseconds). One call. */
export async function startOfRun(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<{ input: unknown; startedAtMs: number }> {
  const { namespace, loadedDataConverter } = client.options;
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [started] = history?.events ?? [];
  let payloads: Encoded = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  for (const codec of loadedDataConverter.payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  const [input] = payloads.map((payload) => loadedDataConverter.payloadConverter.fromPayload<unknown>(payload));
  return { input, startedAtMs: msOf(started?.eventTime) };
}

interface Timestamp {
  seconds?: unknown;
  nanos?: number | null;
}

/** Of a time as Temporal's messages have it, in Unix milliseconds; 0 for none. */
export function msOf(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}
