import { type Client, WorkflowNotFoundError } from "@temporalio/client";

import { nairobiTime } from "../../../contract/nairobi-date.ts";
import { nairobiClock } from "../../output.ts";
import { timelineOf, type TimelineEntry } from "./timeline.ts";

/** One call's worth. A sale of hundreds of movements has more, and nobody reads them here. */
const MOST_EVENTS = 1_000;
/** What is left out is in the middle: how it began, and how it ended, tell most. */
const MOST_LINES = 40;

export interface Timeline {
  readonly entries: readonly TimelineEntry[];
  /** False: the run has more events than were read. */
  readonly complete: boolean;
}

/** What the latest run of a workflow did; undefined where Temporal has no history of it. One call. */
export async function readTimeline(client: Client, workflowId: string): Promise<Timeline | undefined> {
  const { namespace } = client.options;
  try {
    const { history, nextPageToken } = await client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId },
      maximumPageSize: MOST_EVENTS,
    });
    const entries = timelineOf(history?.events ?? []).toSorted((one, other) => one.atMs - other.atMs);
    return { entries, complete: nextPageToken === undefined || nextPageToken === null || nextPageToken.length === 0 };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isNotFound(error)) return undefined;
    throw error;
  }
}

/** As a page below the sale's. */
export function timelinePage({ entries, complete }: Timeline): string {
  const [first] = entries;
  if (first === undefined) return "Timeline: nothing yet";
  const lines = entries.map(entryLine);
  const head = `Timeline, from ${nairobiTime(first.atMs)}`;
  const end = complete ? [] : ["  … and what came later: see Temporal's UI (--web)"];
  if (lines.length <= MOST_LINES) return [head, ...lines, ...end].join("\n");
  const half = MOST_LINES / 2;
  const left = `  … ${lines.length - MOST_LINES} more …`;
  return [head, ...lines.slice(0, half), left, ...lines.slice(-half), ...end].join("\n");
}

function entryLine({ atMs, what, tookMs, note }: TimelineEntry): string {
  const took = tookMs === undefined ? undefined : durationText(tookMs);
  return `  ${nairobiClock(atMs)}  ${[what, took, note].filter((part) => part !== undefined).join(", ")}`;
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
