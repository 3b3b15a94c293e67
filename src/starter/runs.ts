import {
  ApplicationFailure,
  type Client,
  type ListOptions,
  type Payload,
  WorkflowClient,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from "@temporalio/client";

import { FAILURES, REFUSALS } from "../contract/errors.ts";
import { type ClosedRun, type ClosedStatus, restartedOf } from "../contract/messages.ts";
import { decoded } from "../payloads/decoded.ts";
import { GRPC, grpcErrorsOf } from "./errors.ts";
import { calledService, type ServiceTrouble, STILL_WAITING, type TroubleDetails } from "../contract/service-trouble.ts";

const STATUSES: Readonly<Record<string, ClosedStatus>> = {
  TERMINATED: "terminated",
  FAILED: "failed",
  TIMED_OUT: "timed-out",
  CANCELLED: "canceled",
};

/** `HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT`: the last event alone. */
const CLOSE_EVENT = 2;

/** Undefined where it runs, or completed. */
export function closedStatusOf(statusName: string): ClosedStatus | undefined {
  return STATUSES[statusName];
}

export type RunFacts = Pick<WorkflowExecutionDescription, "workflowId" | "runId" | "status" | "closeTime">;

/** The last run of a workflow; undefined where Temporal does not know it, also if a list still does. */
export async function lastRunOf(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  return await runOf(client, workflowId);
}

/** As {@link lastRunOf}, of the run that is named. */
export async function runOf(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * A run whose memo the client cannot decode, since it lacks the key, is listed without it: it must not end the list, and
 * so hide all others.
 */
export function listedRuns(client: Client, options: ListOptions): AsyncIterable<WorkflowExecutionInfo> {
  const { connection } = client;
  const { namespace, loadedDataConverter } = client.options;
  const converter = loadedDataConverter.payloadConverter;
  const payloadCodecs = loadedDataConverter.payloadCodecs.map((codec) => ({
    encode: (payloads: Payload[]) => codec.encode(payloads),
    decode: async (payloads: Payload[]) => {
      const decodedOrNot = (payload: Payload) => codec.decode([payload]).catch(() => [payload]);
      return (await Promise.all(payloads.map(decodedOrNot))).flat();
    },
  }));
  const payloadConverter: typeof converter = {
    toPayload: (value) => converter.toPayload(value),
    fromPayload: <Value>(payload: Payload) => {
      try {
        return converter.fromPayload<Value>(payload);
      } catch {
        return undefined as Value;
      }
    },
  };
  const dataConverter = { ...loadedDataConverter, payloadCodecs, payloadConverter };
  return new WorkflowClient({ connection, namespace, dataConverter }).list(options);
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
  const end = await decoded(client, await closeEventOf(client, run));
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

/**
 * Of a workflow whose last run was started by a number alone, and found no row of it: the run before that completed, and
 * whose row the database has lost.
 */
export async function lastCompletedRun(
  client: Client,
  { workflowId }: Pick<RunFacts, "workflowId">,
): Promise<WorkflowExecutionInfo | undefined> {
  const query = `WorkflowId = ${JSON.stringify(workflowId)} AND ExecutionStatus = "Completed"`;
  let last: WorkflowExecutionInfo | undefined;
  for await (const run of listedRuns(client, { query })) if (!last || run.startTime > last.startTime) last = run;
  return last;
}

async function closeEventOf(client: Client, { workflowId, runId }: RunFacts) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    historyEventFilterType: CLOSE_EVENT,
  });
  return history?.events?.at(-1);
}

/** Undefined where Temporal has deleted it. */
export async function historyOf(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<Awaited<ReturnType<WorkflowHandle["fetchHistory"]>> | undefined> {
  try {
    return await decoded(client, await client.workflow.getHandle(workflowId, runId).fetchHistory());
  } catch (error) {
    if (grpcErrorsOf(error).some(({ code }) => code === GRPC.NOT_FOUND)) return undefined;
    throw error;
  }
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

/** What a run was started with, by any program, and when (Unix milliseconds). One call. */
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
  const started = await decoded(client, history?.events?.[0]);
  const [input] = (started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []).map((payload) =>
    loadedDataConverter.payloadConverter.fromPayload<unknown>(payload),
  );
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

/**
 * A call to the API, or to the accounting service, that a workflow waits for, as Temporal knows it: what is normal is
 * left out.
 */
export interface PendingCall {
  call: string;
  /**
   * `queued`: no worker has taken it yet. `pausing`: between two attempts. `in-progress`: an attempt goes on. `paused`:
   * somebody has paused the activity in Temporal, and it does not go on by itself; any activity, whatever it calls.
   */
  state: "queued" | "pausing" | "in-progress" | "paused";
  attempt: number;
  /** Since when it is queued or under way, or when its last attempt ended (Unix milliseconds). */
  sinceMs: number;
  /** When the next attempt is due (Unix milliseconds). */
  nextAttemptAtMs?: number;
  /** What is wrong with the API, as the last attempt has met it, or as this one goes on. */
  trouble?: ServiceTrouble;
  /** When that was met last (Unix milliseconds). */
  troubleSeenAtMs?: number;
  /** The ledger did not answer its last attempt. */
  waitsForLedger?: true;
  /** What the last attempt came to; of one that is paused, who paused it, and why. */
  message?: string;
}

type PendingActivity = NonNullable<WorkflowExecutionDescription["raw"]["pendingActivities"]>[number];

/** So long an attempt, or the wait for a worker, is nothing to speak of: 2 s may pass at the request budget. */
const NOTABLE_AFTER_MS = 2_500;
/** `PENDING_ACTIVITY_STATE_STARTED`. */
const STARTED = 2;

/** @param run as its description has it; a run that is closed has none */
export async function pendingCallsOf(
  client: Client,
  { raw }: Pick<WorkflowExecutionDescription, "raw">,
  nowMs = Date.now(),
): Promise<PendingCall[]> {
  return (await decoded(client, raw.pendingActivities ?? [])).flatMap(
    (activity) => pendingCall(client, activity, nowMs) ?? [],
  );
}

export function waitsForService({ raw }: Pick<WorkflowExecutionDescription, "raw">): boolean {
  return (raw.pendingActivities ?? []).some(
    ({ activityType }) => calledService(activityType?.name ?? "") !== undefined,
  );
}

function pendingCall(client: Client, activity: PendingActivity, nowMs: number): PendingCall | undefined {
  const call = activity.activityType?.name ?? "";
  const called = calledService(call);
  const attempt = activity.attempt ?? 1;
  if (activity.paused === true) {
    const { pauseTime, manual } = activity.pauseInfo ?? {};
    const sinceMs = msOf(pauseTime) || msOf(activity.lastStartedTime) || msOf(activity.scheduledTime);
    const message = [manual?.identity, manual?.reason].filter(Boolean).join(": ");
    return { call, state: "paused", attempt, sinceMs, ...(message !== "" && { message }) };
  }
  const last = lastAttempt(client, activity);
  if (called === undefined && last?.said.waitsForLedger !== true) return undefined;
  if (activity.state === STARTED) {
    const sinceMs = msOf(activity.lastStartedTime);
    if (last?.said.trouble || last?.said.waitsForLedger)
      return { call, state: "in-progress", attempt, sinceMs, ...last.said };
    if (nowMs - sinceMs < NOTABLE_AFTER_MS) return undefined;
    const trouble = { kind: "slow", ...(called === "accounting" && { service: called }), sinceMs } as const;
    return { call, state: "in-progress", attempt, sinceMs, trouble, troubleSeenAtMs: nowMs };
  }
  if (!last) {
    const sinceMs = msOf(activity.scheduledTime);
    return nowMs - sinceMs < NOTABLE_AFTER_MS ? undefined : { call, state: "queued", attempt, sinceMs };
  }
  // One look of many, which has found nothing wrong.
  if (last.isLook && !last.said.trouble) return undefined;
  // An attempt that was lost with its worker, or timed out, did not end by itself. The next one waits for a worker.
  if (!activity.lastAttemptCompleteTime) {
    const sinceMs = msOf(activity.lastStartedTime) || msOf(activity.scheduledTime);
    return { call, state: "queued", attempt, sinceMs, ...last.said };
  }
  const nextAttemptAtMs = msOf(activity.nextAttemptScheduleTime);
  const next = nextAttemptAtMs > 0 && { nextAttemptAtMs };
  const sinceMs = msOf(activity.lastAttemptCompleteTime);
  return { call, state: "pausing", attempt, sinceMs, ...next, ...last.said };
}

interface LastAttempt {
  isLook: boolean;
  said: Pick<PendingCall, "trouble" | "troubleSeenAtMs" | "waitsForLedger" | "message">;
}

function lastAttempt(
  { options }: Client,
  { lastFailure, lastAttemptCompleteTime }: PendingActivity,
): LastAttempt | undefined {
  if (!lastFailure) return undefined;
  const { failureConverter, payloadConverter } = options.loadedDataConverter;
  const error = failureConverter.failureToError(lastFailure, payloadConverter);
  if (!(error instanceof ApplicationFailure)) return { isLook: false, said: { message: error.message } };
  const [details] = error.details ?? [];
  const isLook = error.type === STILL_WAITING;
  const waitsForLedger = error.type === FAILURES.ledgerAway && ({ waitsForLedger: true } as const);
  if (!isTrouble(details)) return { isLook, said: { message: error.message, ...waitsForLedger } };
  const { trouble, said: message } = details;
  return { isLook, said: { trouble, troubleSeenAtMs: msOf(lastAttemptCompleteTime), message } };
}

function isTrouble(details: unknown): details is TroubleDetails {
  return typeof details === "object" && details !== null && "trouble" in details && "said" in details;
}

export function waitsForInstead(calls: readonly PendingCall[]): string | undefined {
  const paused = calls.flatMap((one) => (one.state === "paused" ? [one.call] : []));
  if (paused.length > 0) return waitsForUnpause(paused);
  return calls.some((one) => one.waitsForLedger) ? "the ledger, which does not answer" : undefined;
}

/** @param calls of the activities that somebody has paused */
function waitsForUnpause(calls: readonly string[]): string {
  return `somebody to unpause ${calls.join(", ")} in Temporal`;
}
