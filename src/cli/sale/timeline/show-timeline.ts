import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

import { nairobiDate, nairobiTime } from "../../../contract/nairobi-date.ts";
import { plainLine } from "../../../contract/plain-text.ts";
import { lastRunOf } from "../../../starter/closed-run.ts";
import { nairobiClock } from "../../output.ts";
import { CALLBACK, type HistoryEvent, resetsIn, timelineOf, type TimelineEntry } from "./timeline.ts";

/** One call's worth. A sale of hundreds of movements has more, and nobody reads them here. */
const MOST_EVENTS = 1_000;
/** What is left out is in the middle: how it began, and how it ended, tell most. */
const MOST_LINES = 40;

export interface Timeline {
  readonly entries: readonly TimelineEntry[];
  /** False: there are more events than were read. */
  readonly complete: boolean;
}

/**
 * What the runs of a workflow did: the latest one, those from which it was reset, and those before a restart or a late refund. Undefined
 * where Temporal has no history of it. One call for each run.
 */
export async function readTimeline(client: Client, workflowId: string): Promise<Timeline | undefined> {
  const latest = await lastRunOf(client, workflowId);
  if (!latest) return undefined;
  const runs = new Map<string, Run & { fromEventId: number }>();
  /** @param cutAt of a run that was reset: what came before is in the copy */
  async function add(runId: string, cutAt?: number): Promise<void> {
    const run = runs.has(runId) ? undefined : await readRun(client, workflowId, runId);
    if (!run) return;
    const resets = resetsIn(run.events);
    // One whose base is there already may copy what that shows.
    const copied = resets.flatMap(({ eventId, baseRunId }) => (runs.has(baseRunId) ? [eventId] : []));
    const fromEventId = cutAt ?? Math.max(1, ...copied);
    runs.set(runId, { ...run, fromEventId });
    for (const { eventId, baseRunId } of resets) if (eventId >= fromEventId) await add(baseRunId, eventId);
  }
  await add(latest.runId);
  const listed: WorkflowExecutionInfo[] = [];
  for await (const run of client.workflow.list({ query: `WorkflowId = ${JSON.stringify(workflowId)}` }))
    listed.push(run);
  for (const { runId } of listed.toSorted((one, other) => other.startTime.getTime() - one.startTime.getTime()))
    await add(runId);
  const all = [...runs.values()];
  if (all.length === 0) return undefined;
  const entries = all.flatMap(({ events, fromEventId }) => timelineOf(events, fromEventId));
  return {
    entries: entries.toSorted((one, other) => one.atMs - other.atMs),
    complete: all.every(({ complete }) => complete),
  };
}

interface Run {
  events: HistoryEvent[];
  complete: boolean;
}

/** Undefined where Temporal has deleted it. */
async function readRun(client: Client, workflowId: string, runId: string): Promise<Run | undefined> {
  try {
    const { history, nextPageToken } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId, runId },
      maximumPageSize: MOST_EVENTS,
    });
    return { events: history?.events ?? [], complete: (nextPageToken?.length ?? 0) === 0 };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isNotFound(error)) return undefined;
    throw error;
  }
}

/** With the callbacks of the runs before the last one too, as the timeline shows them. */
export function withAllCallbacks<Counted extends { callbacksReceived: number }>(
  state: Counted,
  timeline: Timeline | undefined,
): Counted {
  const shown = timeline?.entries.filter(({ what }) => what === CALLBACK).length ?? 0;
  return { ...state, callbacksReceived: Math.max(state.callbacksReceived, shown) };
}

/** As a page below the sale's. */
export function timelinePage({ entries, complete }: Timeline): string {
  const [first] = entries;
  if (first === undefined) return "Timeline: nothing yet";
  const lines = entries.map((entry) => entryLine(entry, nairobiDate(first.atMs)));
  const head = `Timeline, from ${nairobiTime(first.atMs)}`;
  const end = complete ? [] : ["  … and what came later: see Temporal's UI (--web)"];
  if (lines.length <= MOST_LINES) return [head, ...lines, ...end].join("\n");
  const half = MOST_LINES / 2;
  const left = `  … ${lines.length - MOST_LINES} more …`;
  return [head, ...lines.slice(0, half), left, ...lines.slice(-half), ...end].join("\n");
}

/** @param shownDate of the head: what was on another day says so */
function entryLine({ atMs, what, tookMs, note }: TimelineEntry, shownDate: string): string {
  const took = tookMs === undefined ? undefined : durationText(tookMs);
  const date = nairobiDate(atMs);
  const day = date === shownDate ? "" : `${date} `;
  return `  ${day}${nairobiClock(atMs)}  ${[what, took, note]
    .filter((part) => part !== undefined)
    .map(plainLine)
    .join(", ")}`;
}

function durationText(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} days`;
}

function isNotFound(error: unknown): boolean {
  const NOT_FOUND = 5;
  return error instanceof Error && "code" in error && error.code === NOT_FOUND;
}
