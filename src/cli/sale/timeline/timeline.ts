import type { temporal } from "@temporalio/proto";

import { RESTARTED_MEMO, restartedOf } from "../../../contract/closed-run.ts";

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** One line of a sale's timeline. */
export interface TimelineEntry {
  readonly atMs: number;
  /** In words: "created the document". */
  readonly what: string;
  /** From its request to its answer; absent for what takes no time, and for what goes on. */
  readonly tookMs?: number;
  /** What deserves a word: tries, a failure, that it goes on. */
  readonly note?: string;
}

/** What each activity does; those that are not here are bookkeeping, which nobody looks for in a timeline. */
const ACTIVITIES: Readonly<Record<string, string>> = {
  readItems: "read the catalogue",
  awaitItems: "waited for an item",
  registerItem: "registered an item",
  createSale: "asked for the document",
  createCreditNote: "asked for the credit note",
  readDocument: "read the document",
  awaitDocument: "waited for the authority",
  retryDocument: "submitted the document again",
  adjustStock: "asked for a stock movement",
  watchMovement: "watched the balance of a movement",
  awaitService: "waited for the API",
  awaitLedger: "waited for the ledger",
  awaitBranch: "waited for the branch",
};

const CREATED = {
  rejected: "asked for the document: rejected",
  refused: "asked for the document: refused",
  unknown: "asked for the document: no answer",
  deferred: "could not ask for the document yet",
  named: "learned the document's id",
} as const;
const MOVED = {
  "not-applied": "asked for a stock movement: refused",
  unknown: "asked for a stock movement: no answer",
  deferred: "could not ask for a stock movement yet",
  "branch-held": "held a stock movement back",
  superseded: "found a later try of a stock movement",
  "said-applied": "took an operator's word on a stock movement",
} as const;

/** What the authority has made of the document by then; of one in flight nothing. */
const AUTHORITY_SAYS: Readonly<Record<string, string>> = {
  completed: "signed",
  failed: "rejected",
  cancelled: "cancelled",
};

/** When a movement was sent; where its outcome is unknown, the evidence says so. */
interface Sent {
  sentAtMs?: unknown;
  evidence?: { sentAtMs?: unknown };
}

interface Answer extends Sent {
  kind: string;
  replayed?: unknown;
  document?: { status?: string } | null;
}

/** What a call came to, where its result can be read: asked for is not done, and done may be done by an earlier run. */
function resultIn(activity: string, result: unknown, runBeganAtMs: number): string | undefined {
  if (typeof result !== "object" || result === null || !("kind" in result)) return undefined;
  const { kind, replayed, document, ...sent } = result as Answer;
  if (activity === "retryDocument" || activity === "awaitDocument") {
    const says = AUTHORITY_SAYS[document?.status ?? ""];
    return says && `${ACTIVITIES[activity]}: ${says}`;
  }
  if (activity === "createSale" || activity === "createCreditNote") {
    const noun = activity === "createSale" ? "document" : "credit note";
    const words = kind in CREATED ? CREATED[kind as keyof typeof CREATED] : undefined;
    if (kind !== "document") return words?.replace("document", noun);
    return replayed === true ? `found the ${noun} created before` : `created the ${noun}`;
  }
  if (activity !== "adjustStock") return undefined;
  const sentAtMs = sent.sentAtMs ?? sent.evidence?.sentAtMs;
  const isEarlier = typeof sentAtMs === "number" && sentAtMs < runBeganAtMs;
  if (kind === "applied") return isEarlier ? "found a stock movement made before" : "moved stock";
  if (kind === "unknown" && isEarlier) return "found a stock movement of unknown outcome";
  return kind in MOVED ? MOVED[kind as keyof typeof MOVED] : undefined;
}

export const CALLBACK = "received a callback";

const SIGNALS: Readonly<Record<string, string>> = {
  callbackReceived: CALLBACK,
  refundRequested: "was asked for a refund",
};

/** Updates by which somebody only waits or looks. */
const SILENT_UPDATES: readonly string[] = ["outcome"];

const ENDS: readonly (readonly [keyof HistoryEvent, string])[] = [
  ["workflowExecutionCompletedEventAttributes", "closed"],
  ["workflowExecutionFailedEventAttributes", "failed"],
  ["workflowExecutionTimedOutEventAttributes", "timed out"],
  ["workflowExecutionTerminatedEventAttributes", "was terminated"],
  ["workflowExecutionCanceledEventAttributes", "was cancelled"],
];

/** Who terminates a run that is reset while it is open. */
const RESETTER = "history-resetter";

/** Where a history leaves that of the run that was reset: up to here it is a copy, with the times of that run. */
export interface Reset {
  readonly eventId: number;
  /** The run that was reset. */
  readonly baseRunId: string;
}

/** Every reset on the way to this run, the first one first. */
export function resetsIn(events: readonly HistoryEvent[]): Reset[] {
  return events.flatMap(({ eventId, workflowTaskFailedEventAttributes: failed }) =>
    failed?.newRunId && failed.baseRunId ? [{ eventId: Number(eventId), baseRunId: failed.baseRunId }] : [],
  );
}

/**
 * Calls, waits, callbacks and decisions of a run, in order, with how long each took.
 * @param fromEventId leaves out the events before it: of a run that was reset, they are in the copy
 */
export function timelineOf(events: readonly HistoryEvent[], fromEventId = 1): TimelineEntry[] {
  const outcomes = outcomesOf(events);
  const isOver = events.some((event) => ENDS.some(([name]) => event[name]));
  let runBeganAtMs = 0;
  let isReapplied = false;
  return events.flatMap((event): TimelineEntry[] => {
    const atMs = timeOf(event);
    const reset = event.workflowTaskFailedEventAttributes?.newRunId ? event.workflowTaskFailedEventAttributes : null;
    // What comes before the reset was done by the run that was reset.
    if (event.workflowExecutionStartedEventAttributes || reset) runBeganAtMs = atMs;
    // Up to its first task a run has what came to the run that was reset, which shows it.
    isReapplied = reset !== null || (isReapplied && !event.workflowTaskScheduledEventAttributes);
    if (Number(event.eventId) < fromEventId) return [];
    const entry = (what: string, more: Partial<TimelineEntry> = {}): TimelineEntry[] => [{ atMs, what, ...more }];
    if (reset) return entry("was reset", reset.failure?.message ? { note: firstLine(reset.failure.message) } : {});
    if (event.workflowExecutionTerminatedEventAttributes?.identity === RESETTER) return [];
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) {
      const activity = scheduled.activityType?.name ?? "";
      const what = ACTIVITIES[activity];
      if (what === undefined) return [];
      const { result, ...ended } = outcomes.get(String(event.eventId)) ?? {
        note: isOver ? "broken off" : "goes on",
      };
      return entry(resultIn(activity, result, runBeganAtMs) ?? what, ended);
    }
    const timer = event.timerFiredEventAttributes;
    if (timer) return pause(events, String(timer.startedEventId), atMs);
    const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
    if (signal) return isReapplied || SIGNALS[signal] === undefined ? [] : entry(SIGNALS[signal]);
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name;
    if (update) return SILENT_UPDATES.includes(update) ? [] : entry(`received the update ${update}`);
    if (event.workflowExecutionCancelRequestedEventAttributes) return entry("was asked to cancel");
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) {
      const restarted = restartedOf({ [RESTARTED_MEMO]: read(started.memo?.fields?.[RESTARTED_MEMO] ?? undefined) });
      return restarted ? entry("was restarted", { note: firstLine(restarted.note) }) : entry("started");
    }
    const end = ENDS.find(([name]) => event[name]);
    const reason =
      event.workflowExecutionTerminatedEventAttributes?.reason ||
      event.workflowExecutionFailedEventAttributes?.failure?.message;
    return end ? entry(end[1], reason ? { note: firstLine(reason) } : {}) : [];
  });
}

/** How each activity ended, by the event that scheduled it. */
function outcomesOf(events: readonly HistoryEvent[]): Map<string, Partial<TimelineEntry> & { result?: unknown }> {
  const scheduledAt = new Map(events.map((event) => [String(event.eventId), timeOf(event)]));
  const attempts = new Map<string, number>();
  const outcomes = new Map<string, Partial<TimelineEntry> & { result?: unknown }>();
  for (const event of events) {
    const started = event.activityTaskStartedEventAttributes;
    if (started) attempts.set(String(started.scheduledEventId), started.attempt ?? 1);
    const failed = event.activityTaskFailedEventAttributes;
    const ended =
      event.activityTaskCompletedEventAttributes ??
      failed ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    if (!ended) continue;
    const id = String(ended.scheduledEventId);
    const tries = attempts.get(id) ?? 1;
    const notes = [
      tries > 1 ? `${tries} attempts` : undefined,
      failed ? firstLine(failed.failure?.message) : undefined,
      event.activityTaskTimedOutEventAttributes ? "timed out" : undefined,
      event.activityTaskCanceledEventAttributes ? "broken off" : undefined,
    ].filter((note) => note !== undefined);
    const tookMs = timeOf(event) - (scheduledAt.get(id) ?? timeOf(event));
    const [payload] = event.activityTaskCompletedEventAttributes?.result?.payloads ?? [];
    outcomes.set(id, { tookMs, result: read(payload), ...(notes.length > 0 && { note: notes.join("; ") }) });
  }
  return outcomes;
}

/** Undefined where a codec keeps it from whoever asks. */
function read(payload: temporal.api.common.v1.IPayload | undefined): unknown {
  const { metadata, data } = payload ?? {};
  if (!data || Buffer.from(metadata?.["encoding"] ?? []).toString() !== "json/plain") return undefined;
  return JSON.parse(Buffer.from(data).toString());
}

/** By its summary: the timer of an update that somebody only waits in. */
const CALLERS_WAIT = /\b(caller|operator) waits\b/;

/** A pause is listed at its beginning, once it is over. Those of no time are a way of the SDK. */
function pause(events: readonly HistoryEvent[], startedEventId: string, overAtMs: number): TimelineEntry[] {
  const started = events.find(({ eventId }) => String(eventId) === startedEventId);
  const summary = read(started?.userMetadata?.summary ?? undefined);
  if (typeof summary === "string" && CALLERS_WAIT.test(summary)) return [];
  const tookMs = started === undefined ? 0 : overAtMs - timeOf(started);
  return tookMs < 1_000 ? [] : [{ atMs: overAtMs - tookMs, what: "paused", tookMs }];
}

function firstLine(text: string | null | undefined): string {
  return (text ?? "failed").split("\n", 1)[0] ?? "";
}

function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6);
}
