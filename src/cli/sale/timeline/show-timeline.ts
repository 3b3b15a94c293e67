import { type Client, WorkflowNotFoundError } from "@temporalio/client";

import { nairobiDate, nairobiTime } from "../../../contract/nairobi-date.ts";
import { nairobiClock } from "../../output.ts";
import { type HistoryEvent, resetsIn, timelineOf, type TimelineEntry } from "./timeline.ts";

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
 * What the latest run of a workflow did, and what the runs did from which it was reset; undefined where Temporal has no
 * history of it. One call for each run.
 */
export async function readTimeline(client: Client, workflowId: string): Promise<Timeline | undefined> {
  const latest = await readRun(client, workflowId);
  if (!latest) return undefined;
  const runs = [{ ...latest, fromEventId: 1 }];
  // A reset copies the history up to its point; what was done after that is in the run that was reset alone.
  for (const { events, fromEventId } of runs) {
    for (const { eventId, baseRunId } of resetsIn(events).filter((reset) => reset.eventId >= fromEventId)) {
      const base = await readRun(client, workflowId, baseRunId);
      if (base) runs.push({ ...base, fromEventId: eventId });
    }
  }
  const entries = runs.flatMap(({ events, fromEventId }) => timelineOf(events, fromEventId));
  return {
    entries: entries.toSorted((one, other) => one.atMs - other.atMs),
    complete: runs.every(({ complete }) => complete),
  };
}

/** Undefined where Temporal has deleted it. */
async function readRun(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<{ events: HistoryEvent[]; complete: boolean } | undefined> {
  try {
    const { history, nextPageToken } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId, ...(runId !== undefined && { runId }) },
      maximumPageSize: MOST_EVENTS,
    });
    return { events: history?.events ?? [], complete: (nextPageToken?.length ?? 0) === 0 };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isNotFound(error)) return undefined;
    throw error;
  }
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
  return `  ${day}${nairobiClock(atMs)}  ${[what, took, note].filter((part) => part !== undefined).join(", ")}`;
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
