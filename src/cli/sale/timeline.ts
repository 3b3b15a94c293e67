import type { Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";

import {
  MAIN_TASK_QUEUE,
  nairobiDate,
  nairobiTime,
  plainLine,
  RESTARTED_MEMO,
  restartedOf,
} from "../../contract/index.ts";
import { historyOf, lastRunOf, listedRuns, msOf } from "../../starter/runs.ts";
import { nairobiClock } from "../output.ts";

/** What is left out is in the middle: how it began, and how it ended, tell most. */
const MOST_LINES = 40;

export interface TimelineEntry {
  readonly atMs: number;
  /** In the words of the history's summaries: `Issue the sale INV-1: completed`. */
  readonly what: string;
  /** From its request to its answer; absent for what takes no time, and for what goes on. */
  readonly tookMs?: number;
  /** What deserves a word: tries, a failure, that it goes on. */
  readonly note?: string;
}

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** What the runs of a workflow did, by the summaries of their histories; empty where Temporal has none of it. */
export async function readTimeline(client: Client, workflowId: string): Promise<TimelineEntry[]> {
  const latest = await lastRunOf(client, workflowId);
  if (!latest) return [];
  const runs: { runId: string; startTime: Date }[] = [];
  for await (const run of listedRuns(client, { query: `WorkflowId = ${JSON.stringify(workflowId)}` })) runs.push(run);
  const newestFirst = runs.toSorted((one, other) => other.startTime.getTime() - one.startTime.getTime());
  const entries: TimelineEntry[] = [];
  const shown = new Set<string>();
  // The list follows the runs by a moment.
  for (const runId of new Set([latest, ...newestFirst].map((run) => run.runId))) {
    const history = await historyOf(client, { workflowId, runId });
    entries.push(...timelineOf(history?.events ?? [], shown));
  }
  return entries.toSorted((one, other) => one.atMs - other.atMs);
}

const ENDS: readonly (readonly [keyof HistoryEvent, string])[] = [
  ["workflowExecutionCompletedEventAttributes", "closed"],
  ["workflowExecutionFailedEventAttributes", "failed"],
  ["workflowExecutionTimedOutEventAttributes", "timed out"],
  ["workflowExecutionTerminatedEventAttributes", "was terminated"],
  ["workflowExecutionCanceledEventAttributes", "was cancelled"],
];

/** Who terminates a run that is reset while it is open. */
const RESETTER = "history-resetter";

/**
 * Calls, waits, callbacks and updates of a run, with how long each took.
 * @param shown the events of newer runs, by id and time: up to a reset, a run has copies of the events of the run
 * before it. Those of this run are added
 */
export function timelineOf(events: readonly HistoryEvent[], shown = new Set<string>()): TimelineEntry[] {
  const ends = new Map(events.map((event) => [String(endedActivity(event)?.scheduledEventId), event]));
  const attempts = new Map(
    events.map(({ activityTaskStartedEventAttributes: one }) => [String(one?.scheduledEventId), one?.attempt ?? 1]),
  );
  const isOver = events.some((event) => ENDS.some(([name]) => event[name]));
  const byId = new Map(events.map((event) => [String(event.eventId), event]));
  let runBeganAtMs = 0;
  return events.flatMap((event): TimelineEntry[] => {
    const atMs = msOf(event.eventTime);
    const entry = (what: string, more: Partial<TimelineEntry> = {}): TimelineEntry[] => [{ atMs, what, ...more }];
    const noted = (what: string, note: string | null | undefined) => entry(what, note ? { note: firstLine(note) } : {});
    const failedTask = event.workflowTaskFailedEventAttributes;
    const isReset = Boolean(failedTask?.newRunId);
    const started = event.workflowExecutionStartedEventAttributes;
    // What comes before the reset was done by the run that was reset.
    if (started || isReset) runBeganAtMs = atMs;
    const key = `${String(event.eventId)} ${String(event.eventTime?.seconds)}.${event.eventTime?.nanos}`;
    if (shown.has(key)) return [];
    shown.add(key);
    if (isReset) return noted("was reset", failedTask?.failure?.message);
    if (started) {
      const restarted = restartedOf({ [RESTARTED_MEMO]: read(started.memo?.fields?.[RESTARTED_MEMO]) });
      return restarted ? noted("was restarted", restarted.note) : entry("started");
    }
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) {
      const summary = summaryOf(event) ?? scheduled.activityType?.name ?? "";
      const what = summary.replace(LOOKS, "");
      // Bookkeeping in the ledger is not what anybody looks for here.
      if (scheduled.taskQueue?.name === MAIN_TASK_QUEUE && what === summary) return [];
      const id = String(event.eventId);
      const end = ends.get(id);
      if (!end) return entry(what, { note: isOver ? "broken off" : "goes on" });
      const { outcome, more } = endOf(end, atMs, attempts.get(id) ?? 1, runBeganAtMs);
      return entry(outcome === undefined ? what : `${what}: ${outcome}`, more);
    }
    const fired = event.timerFiredEventAttributes;
    if (fired) return pause(byId.get(String(fired.startedEventId)), atMs);
    const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
    if (signal) return entry(signal === "callbackReceived" ? "received a callback" : `received the signal ${signal}`);
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name;
    // By that one somebody only waits.
    if (update) return update === "outcome" ? [] : entry(`received the update ${update}`);
    if (event.workflowExecutionCancelRequestedEventAttributes) return entry("was asked to cancel");
    const terminated = event.workflowExecutionTerminatedEventAttributes;
    const end = ENDS.find(([name]) => event[name]);
    if (!end || terminated?.identity === RESETTER) return [];
    return noted(end[1], terminated?.reason || event.workflowExecutionFailedEventAttributes?.failure?.message);
  });
}

function endedActivity(event: HistoryEvent) {
  return (
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes
  );
}

/** How the summary of a wait ends, whose attempts are looks. */
const LOOKS = /: each attempt is one look$/;
/** What says no more than that the activity did what it is for. */
const AS_ASKED: readonly string[] = ["resolved", "registered", "branch", "balance"];

/** What a call came to: asked for is not done, and done may be done by an earlier run or try. */
function outcomeIn(result: unknown, runBeganAtMs: number): string | undefined {
  if (typeof result !== "object" || result === null || !("kind" in result)) return undefined;
  const { kind, replayed, document, sentAtMs, evidence } = result as {
    kind: string;
    replayed?: boolean;
    document?: { status?: string } | null;
    /** Of a movement; where its outcome is unknown, the evidence says it. */
    sentAtMs?: number;
    evidence?: { sentAtMs?: number };
  };
  if (AS_ASKED.includes(kind)) return undefined;
  if (kind === "named") return "issued before";
  const isEarlier = replayed === true || (sentAtMs ?? evidence?.sentAtMs ?? runBeganAtMs) < runBeganAtMs;
  return `${kind === "document" ? document?.status : kind}${isEarlier ? " before" : ""}`;
}

function endOf(event: HistoryEvent, scheduledAtMs: number, attempts: number, runBeganAtMs: number) {
  const failed = event.activityTaskFailedEventAttributes;
  const notes = [
    attempts > 1 && `${attempts} attempts`,
    failed && firstLine(failed.failure?.message ?? "failed"),
    event.activityTaskTimedOutEventAttributes && "timed out",
    event.activityTaskCanceledEventAttributes && "broken off",
  ].filter(Boolean);
  const result = read(event.activityTaskCompletedEventAttributes?.result?.payloads?.[0]);
  const more = { tookMs: msOf(event.eventTime) - scheduledAtMs, ...(notes.length > 0 && { note: notes.join("; ") }) };
  return { outcome: outcomeIn(result, runBeganAtMs), more };
}

/** By its summary: the timer of an update that somebody only waits in. */
const CALLERS_WAIT = /\b(caller|operator) waits\b/;

/** A pause is listed at its beginning, once it is over. Those of no time are a way of the SDK. */
function pause(started: HistoryEvent | undefined, overAtMs: number): TimelineEntry[] {
  const summary = started && summaryOf(started);
  const tookMs = started ? overAtMs - msOf(started.eventTime) : 0;
  if (tookMs < 1_000 || CALLERS_WAIT.test(summary ?? "")) return [];
  return [{ atMs: overAtMs - tookMs, what: summary ?? "paused", tookMs }];
}

function summaryOf({ userMetadata }: HistoryEvent): string | undefined {
  const summary = read(userMetadata?.summary);
  return typeof summary === "string" ? summary : undefined;
}

/** Undefined where a key keeps it from this process. */
function read(payload: temporal.api.common.v1.IPayload | null | undefined): unknown {
  const { metadata, data } = payload ?? {};
  if (!data || Buffer.from(metadata?.["encoding"] ?? []).toString() !== "json/plain") return undefined;
  return JSON.parse(Buffer.from(data).toString());
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

export function timelinePage(entries: readonly TimelineEntry[]): string {
  const [first] = entries;
  if (first === undefined) return "";
  const lines = entries.map((entry) => entryLine(entry, nairobiDate(first.atMs)));
  const left = lines.length - MOST_LINES;
  if (left > 0) lines.splice(MOST_LINES / 2, left, `  … ${left} more …`);
  return [`Timeline, from ${nairobiTime(first.atMs)}`, ...lines].join("\n");
}

/** @param shownDate of the head: what was on another day says so */
function entryLine({ atMs, what, tookMs, note }: TimelineEntry, shownDate: string): string {
  const date = nairobiDate(atMs);
  const parts = [what, tookMs === undefined ? undefined : durationText(tookMs), note];
  const text = parts.filter((part) => part !== undefined).map(plainLine);
  return `  ${date === shownDate ? "" : `${date} `}${nairobiClock(atMs)}  ${text.join(", ")}`;
}

function durationText(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} days`;
}
