import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client, DataConverter } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { type ReplayWorkerOptions, Worker, type WorkerOptions } from "@temporalio/worker";

import { WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { type HistoryEvent, stagesOf, storedFiles } from "../replay/stored.ts";

export interface Replays {
  readonly replayed: number;
  /** Of histories that do not replay, or lack a summary. */
  readonly errors: readonly string[];
}

/**
 * Replays the histories of the namespace against the bundled workflows, and looks whether each reads as a story.
 * @param replayedElsewhere the names under which shapes are stored
 * @param dataConverter that has the keys of encrypted payloads
 */
export async function replayHistories(
  client: Client,
  workflowBundle: { codePath: string },
  replayedElsewhere?: ReadonlySet<string>,
  dataConverter: DataConverter = {},
): Promise<Replays> {
  let replayed = 0;
  const errors: string[] = [];
  const types = Object.values(WORKFLOW_TYPES).map((type) => `'${type}'`);
  const histories = client.workflow
    .list({ query: `WorkflowType IN (${types.join(", ")})` })
    .intoHistories({ concurrency: 4 });
  // Errors come as results, not as throws, so each is looked at.
  const inspected = inspect(histories, errors, (history) => {
    const isElsewhere = replayedElsewhere?.has(nameOfShape(eventsOf(history))) === true;
    if (isElsewhere) replayed++;
    return !isElsewhere;
  });
  const options = { ...replayOf(workflowBundle), dataConverter };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, inspected)) {
    if (error) errors.push(`${workflowId} does not replay: ${error.message}`);
    replayed++;
  }
  return { replayed, errors };
}

/**
 * For replays alone: the workflows run in this thread, where a thread of their own would take longer to start than it
 * replays. The SDK's types leave the option out of those for a replay, and the SDK takes it.
 */
export function replayOf(workflowBundle: ReplayWorkerOptions["workflowBundle"]): ReplayWorkerOptions {
  const options: Pick<WorkerOptions, "workflowBundle" | "debugMode"> = { workflowBundle, debugMode: true };
  return options as ReplayWorkerOptions;
}

/** The histories to replay. Adds to the errors each activity, timer and child workflow of all without a summary. */
async function* inspect<One extends { workflowId: string; history: unknown }>(
  histories: AsyncIterable<One>,
  errors: string[],
  isToReplay: (history: One["history"]) => boolean,
): AsyncGenerator<One> {
  for await (const one of histories) {
    const { events } = one.history as { events: RecordedEvent[] };
    for (const event of events) {
      const what = nameOfStep(event);
      if (what !== undefined && !event.userMetadata?.summary?.data?.length)
        errors.push(`${one.workflowId} has no summary of ${what}`);
    }
    if (isToReplay(one.history)) yield one;
  }
}

/** A part of an event, as the client gives it. */
export interface RecordedEvent {
  userMetadata?: { summary?: { data?: Uint8Array | null } | null } | null;
  activityTaskScheduledEventAttributes?: { activityType?: { name?: string | null } | null } | null;
  timerStartedEventAttributes?: object | null;
  startChildWorkflowExecutionInitiatedEventAttributes?: { workflowType?: { name?: string | null } | null } | null;
}

/** Which activity, timer or child workflow the event begins; undefined for another event. */
export function nameOfStep(event: RecordedEvent): string | undefined {
  const activity = event.activityTaskScheduledEventAttributes?.activityType?.name;
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType?.name;
  return activity ?? child ?? (event.timerStartedEventAttributes ? "timer" : undefined);
}

/**
 * Of a suite: the histories whose shape is stored are replayed by the suite of those.
 * @param encrypted the converter of a suite whose payloads are encrypted; none of its histories is stored
 * @throws where a history of the namespace does not replay, or there is none
 */
export async function replayAll(
  client: Client,
  workflowBundle: { codePath: string },
  encrypted?: DataConverter,
): Promise<void> {
  const stored = encrypted ? undefined : await storedFiles();
  const { replayed, errors } = await replayHistories(client, workflowBundle, stored, encrypted);
  if (errors.length > 0) throw new Error(errors.join("\n"));
  if (replayed === 0) throw new Error("There was no history to replay.");
}

interface Event extends HistoryEvent {
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
  workflowExecutionSignaledEventAttributes?: { signalName: string };
  /** Without its request where a reset has brought the update again. */
  workflowExecutionUpdateAcceptedEventAttributes?: { acceptedRequest?: { input: { name: string } } };
  eventType: string;
}

/** What belongs to the machine. */
const MACHINE = new Set(["identity", "stackTrace", "binaryChecksum", "workerVersion"]);

/** As Temporal's command line prints a history, without what belongs to the machine. */
function eventsOf(history: unknown): Event[] {
  const text = historyToJSON(history as Parameters<typeof historyToJSON>[0]);
  const withoutMachine = (key: string, value: unknown): unknown => (MACHINE.has(key) ? undefined : value);
  return (JSON.parse(text, withoutMachine) as { events: Event[] }).events;
}

/** The file of histories that have the same shape: the same set of what happens in them and of steps between stages. */
function nameOfShape(events: readonly Event[]): string {
  const type = events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name ?? "none";
  const stages = stagesOf(events);
  const steps = stages.map((stage, at) => `${stages[at - 1] ?? "start"} → ${stage}`);
  const shape = [...new Set([...events.map(nameOf), ...steps])].toSorted().join("\n");
  return `${type}-${createHash("sha256").update(shape).digest("hex").slice(0, 8)}.json`;
}

/**
 * Writes the namespace's histories into a folder, to be stored (`RECORD_HISTORIES=folder npx vitest run --project
 * system --project slow …`): one of each shape.
 */
export async function recordAll(client: Client, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for await (const { workflowId, runId, status } of client.workflow.list()) {
    if (status.name === "RUNNING") continue;
    const events = eventsOf(await client.workflow.getHandle(workflowId, runId).fetchHistory());
    // An exclusive write: of several suites with the same shape the first one's is kept.
    await writeFile(join(folder, nameOfShape(events)), `${JSON.stringify({ events })}\n`, { flag: "wx" }).catch(
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      },
    );
  }
}

function nameOf(event: Event): string {
  const {
    activityTaskScheduledEventAttributes: activity,
    workflowExecutionSignaledEventAttributes: signal,
    workflowExecutionUpdateAcceptedEventAttributes: update,
  } = event;
  const name = activity?.activityType.name ?? signal?.signalName ?? update?.acceptedRequest?.input.name ?? "";
  return `${event.eventType} ${name}`;
}
