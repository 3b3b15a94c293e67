import type { Client } from "@temporalio/client";

/** What the history of one workflow tells, without its bulk. */
export interface Chronicle {
  readonly workflowId: string;
  readonly type: string;
  readonly status: string;
  readonly result: unknown;
  readonly events: number;
  readonly activities: readonly ActivityEnd[];
  /**
   * Attempts that ended without a word of their worker, also where another attempt followed. A task that no worker took
   * in time had no attempt: it is sent again, by design.
   */
  readonly timeouts: readonly string[];
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
const TASK_FAILURES: Readonly<Record<number, string>> = { 1: "UNHANDLED_COMMAND", 24: "NON_DETERMINISTIC_ERROR" };

/** `TIMEOUT_TYPE_START_TO_CLOSE` and `TIMEOUT_TYPE_SCHEDULE_TO_START` of Temporal's API. */
const START_TO_CLOSE = 1;
const SCHEDULE_TO_START = 2;

const AT_ONCE = 8;

/** The histories of all workflows that the server knows. */
export async function readChronicles(client: Client, secrets: readonly string[]): Promise<Chronicle[]> {
  const known: { workflowId: string; runId: string; type: string; status: string }[] = [];
  for await (const { workflowId, runId, type, status } of client.workflow.list())
    known.push({ workflowId, runId, type, status: status.name });
  const chronicles: Chronicle[] = [];
  const queue = known.values();
  const read = async (): Promise<void> => {
    for (const { workflowId, runId, type, status } of queue) {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      chronicles.push({ workflowId, type, status, ...fold(history), secretsFound: occurring(secrets, history) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  return chronicles;
}

function fold({ events }: History): Omit<Chronicle, "workflowId" | "type" | "status" | "secretsFound"> {
  const activities = new Map<string, ActivityEnd>();
  const timeouts: string[] = [];
  const updates: { name: string; input: unknown }[] = [];
  const signals: string[] = [];
  const taskFailures: string[] = [];
  let tasksLost = 0;
  let result: unknown;
  const end = (id: unknown, how: ActivityEnd["end"], value?: unknown): void => {
    const known = activities.get(String(id));
    if (known) activities.set(String(id), { ...known, end: how, result: value });
  };
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) {
      const type = scheduled.activityType?.name ?? "";
      activities.set(String(event.eventId), { type, input: firstOf(scheduled.input), end: "open", result: undefined });
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) end(completed.scheduledEventId, "completed", firstOf(completed.result));
    const failed = event.activityTaskFailedEventAttributes;
    if (failed) end(failed.scheduledEventId, "failed", failed.failure?.message);
    const timedOut = event.activityTaskTimedOutEventAttributes;
    if (timedOut) {
      const isUnstarted = timedOut.failure?.timeoutFailureInfo?.timeoutType === SCHEDULE_TO_START;
      end(timedOut.scheduledEventId, isUnstarted ? "never-started" : "timed-out", timedOut.failure?.message);
      if (!isUnstarted) timeouts.push(activities.get(String(timedOut.scheduledEventId))?.type ?? "");
    }
    const begun = event.activityTaskStartedEventAttributes;
    if (begun?.lastFailure?.timeoutFailureInfo)
      timeouts.push(activities.get(String(begun.scheduledEventId))?.type ?? "");
    const cancelled = event.activityTaskCanceledEventAttributes;
    if (cancelled) end(cancelled.scheduledEventId, "cancelled");
    const request = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
    if (request) updates.push({ name: request.name ?? "", input: firstOf(request.args) });
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
  return {
    result,
    events: events?.length ?? 0,
    activities: [...activities.values()],
    timeouts,
    updates,
    signals,
    taskFailures,
    tasksLost,
  };
}

function firstOf(payloads: Payloads): unknown {
  const data = payloads?.payloads?.[0]?.data;
  if (!data || data.length === 0) return undefined;
  return JSON.parse(Buffer.from(data).toString("utf8")) as unknown;
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
