import type { Client } from "@temporalio/client";

import { decoded } from "../../../src/payloads/decoded.ts";
import { msOf } from "../../../src/starter/runs.ts";

/**
 * What the histories of one workflow's runs tell, without their bulk. A run that was reset begins with a copy of the one
 * before: what both have counts once.
 */
export interface Chronicle {
  readonly workflowId: string;
  readonly type: string;
  /** Of each run, the oldest first. */
  readonly runs: readonly string[];
  /** After the run that issued a credit note: runs that asked what is known of the sale, and did nothing else. */
  readonly runsThatOnlyAnswered: number;
  /** Of the last run, as the result is. */
  readonly status: string;
  readonly result: unknown;
  readonly events: number;
  readonly activities: readonly ActivityEnd[];
  /**
   * Attempts that ended without a word of their worker, also where another attempt followed. A task that no worker took
   * in time had no attempt: it is sent again, by design.
   */
  readonly timeouts: readonly LostAttempt[];
  /** Accepted updates, with what was sent. */
  readonly updates: readonly { readonly name: string; readonly input: unknown }[];
  readonly signals: readonly string[];
  /** Causes of failed workflow tasks, by name. */
  readonly taskFailures: readonly string[];
  /**
   * Workflow tasks that a worker took and did not answer. A sticky one that nobody took any more is Temporal's normal
   * way.
   */
  readonly tasksLost: number;
  /**
   * The secrets that occur in it, memo, errors and search attributes included: by their place in the list that was
   * searched for.
   */
  readonly secretsFound: readonly number[];
}

export interface LostAttempt {
  readonly type: string;
  /** The worker that the task was handed to, and when (Unix milliseconds); unknown where another attempt followed. */
  readonly handedOut: { readonly worker: string; readonly atMs: number } | undefined;
}

export interface ActivityEnd {
  readonly type: string;
  readonly input: unknown;
  /** `never-started`: no worker took the task in time, and nothing of it has left. */
  readonly end: "completed" | "failed" | "timed-out" | "never-started" | "cancelled" | "open";
  readonly result: unknown;
}

type History = Awaited<ReturnType<ReturnType<Client["workflow"]["getHandle"]>["fetchHistory"]>>;
type Payloads = { payloads?: { data?: Uint8Array | null }[] | null } | null | undefined;

/** `TemporalUnhandledCommand` and its kin, by number as the history has them. */
const TASK_FAILURES: Readonly<Record<number, string>> = {
  1: "UNHANDLED_COMMAND",
  17: "FORCE_CLOSE_COMMAND",
  20: "RESET_WORKFLOW",
  24: "NON_DETERMINISTIC_ERROR",
};

/** `TIMEOUT_TYPE_START_TO_CLOSE` and `TIMEOUT_TYPE_SCHEDULE_TO_START` of Temporal's API. */
const START_TO_CLOSE = 1;
const SCHEDULE_TO_START = 2;

const AT_ONCE = 8;

/** The histories of all workflows that the server knows. */
export async function readChronicles(client: Client, secrets: readonly string[]): Promise<Chronicle[]> {
  const known = new Map<string, { runId: string; type: string; status: string; startedAtMs: number }[]>();
  for await (const { workflowId, runId, type, status, startTime } of client.workflow.list()) {
    const run = { runId, type, status: status.name, startedAtMs: startTime.getTime() };
    known.set(workflowId, [...(known.get(workflowId) ?? []), run]);
  }
  const chronicles: Chronicle[] = [];
  const queue = known.entries();
  const read = async (): Promise<void> => {
    for (const [workflowId, unsorted] of queue) {
      const { runId: lastRunId, raw } = await client.workflow.getHandle(workflowId).describe();
      const runs = unsorted.toSorted(
        (one, other) =>
          Number(one.runId === lastRunId) - Number(other.runId === lastRunId) || one.startedAtMs - other.startedAtMs,
      );
      const last = runs.at(-1);
      if (!last) continue;
      const histories: History[] = [];
      for (const { runId } of runs) histories.push(await client.workflow.getHandle(workflowId, runId).fetchHistory());
      chronicles.push({
        workflowId,
        type: last.type,
        runs: runs.map(({ status }) => status),
        status: last.status,
        ...fold(await decoded(client, histories)),
        // As Temporal has them, with the memo and the calls that are pending.
        secretsFound: occurring(secrets, [histories, raw]),
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  return chronicles;
}

function fold(
  histories: readonly History[],
): Omit<Chronicle, "workflowId" | "type" | "runs" | "status" | "secretsFound"> {
  const activities = new Map<string, ActivityEnd>();
  const timeouts: LostAttempt[] = [];
  const updates = new Map<string, { name: string; input: unknown }>();
  const signals: string[] = [];
  const taskFailures: string[] = [];
  const seen = new Set<string>();
  let tasksLost = 0;
  let runsThatOnlyAnswered = 0;
  let isCredited = false;
  let events = 0;
  let result: unknown;
  /** By the event that scheduled it in the run at hand. */
  let names = new Map<string, string>();
  /** By the same event: to whom its task was handed, and when. */
  let handedOut = new Map<string, LostAttempt["handedOut"]>();
  const end = (id: unknown, how: ActivityEnd["end"], value?: unknown): void => {
    const name = names.get(String(id)) ?? "";
    const known = activities.get(name);
    if (known) activities.set(name, { ...known, end: how, result: value });
  };
  const typeOf = (id: unknown): string => activities.get(names.get(String(id)) ?? "")?.type ?? "";
  for (const [run, history] of histories.entries()) {
    names = new Map();
    handedOut = new Map();
    result = undefined;
    const types = (history.events ?? []).flatMap(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
    );
    const onlyAnswered = types.length > 0 && types.every((type) => type === "prepareSale");
    if (isCredited && onlyAnswered) runsThatOnlyAnswered += 1;
    isCredited ||= types.includes("createCreditNote");
    for (const event of history.events ?? []) {
      // A copy keeps number and time.
      const { eventId, eventTime, eventType } = event;
      const name = [eventId, eventTime?.seconds, eventTime?.nanos, eventType].map(String).join(" ");
      if (event.activityTaskScheduledEventAttributes) names.set(String(event.eventId), name);
      if (seen.has(name)) continue;
      seen.add(name);
      events += 1;
      foldEvent(event, run);
    }
  }
  return {
    result,
    events,
    activities: [...activities.values()],
    timeouts,
    updates: [...updates.values()],
    signals,
    taskFailures,
    tasksLost,
    runsThatOnlyAnswered,
  };

  function foldEvent(event: NonNullable<History["events"]>[number], run: number): void {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) {
      const type = scheduled.activityType?.name ?? "";
      const name = names.get(String(event.eventId)) ?? "";
      activities.set(name, { type, input: firstOf(scheduled.input), end: "open", result: undefined });
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) end(completed.scheduledEventId, "completed", firstOf(completed.result));
    const failed = event.activityTaskFailedEventAttributes;
    if (failed) end(failed.scheduledEventId, "failed", failed.failure?.message);
    const timedOut = event.activityTaskTimedOutEventAttributes;
    if (timedOut) {
      const isUnstarted = timedOut.failure?.timeoutFailureInfo?.timeoutType === SCHEDULE_TO_START;
      end(timedOut.scheduledEventId, isUnstarted ? "never-started" : "timed-out", timedOut.failure?.message);
      if (!isUnstarted) {
        const { scheduledEventId } = timedOut;
        timeouts.push({ type: typeOf(scheduledEventId), handedOut: handedOut.get(String(scheduledEventId)) });
      }
    }
    const begun = event.activityTaskStartedEventAttributes;
    if (begun)
      handedOut.set(String(begun.scheduledEventId), { worker: begun.identity ?? "", atMs: msOf(event.eventTime) });
    if (begun?.lastFailure?.timeoutFailureInfo)
      timeouts.push({ type: typeOf(begun.scheduledEventId), handedOut: undefined });
    const cancelled = event.activityTaskCanceledEventAttributes;
    if (cancelled) end(cancelled.scheduledEventId, "cancelled");
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    const request = accepted?.acceptedRequest?.input;
    // One that a reset has carried over is accepted a second time.
    const updateId = accepted?.protocolInstanceId ?? `${run} ${String(event.eventId)}`;
    if (request) updates.set(updateId, { name: request.name ?? "", input: firstOf(request.args) });
    const signalled = event.workflowExecutionSignaledEventAttributes;
    if (signalled) signals.push(signalled.signalName ?? "");
    const taskFailed = event.workflowTaskFailedEventAttributes;
    if (taskFailed) {
      const cause = TASK_FAILURES[Number(taskFailed.cause)] ?? `cause ${Number(taskFailed.cause)}`;
      taskFailures.push(`${cause}: ${taskFailed.failure?.message ?? "no message"}`);
    }
    if (event.workflowTaskTimedOutEventAttributes?.timeoutType === START_TO_CLOSE) tasksLost += 1;
    const ended = event.workflowExecutionCompletedEventAttributes;
    if (ended) result = firstOf(ended.result);
  }
}

function firstOf(payloads: Payloads): unknown {
  const data = payloads?.payloads?.[0]?.data;
  if (!data || data.length === 0) return undefined;
  const text = Buffer.from(data).toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Sent by somebody who presses every button.
    return text;
  }
}

/** Looks into every text and every payload, at any depth. */
function occurring(secrets: readonly string[], value: unknown): number[] {
  const found = new Set<number>();
  const search = (text: string): void => {
    for (const [index, secret] of secrets.entries()) if (text.includes(secret)) found.add(index);
  };
  const visit = (one: unknown): void => {
    if (typeof one === "string") search(one);
    else if (one instanceof Uint8Array) search(Buffer.from(one).toString("utf8"));
    else if (typeof one === "object" && one !== null) for (const entry of Object.values(one)) visit(entry);
  };
  visit(value);
  return [...found];
}
