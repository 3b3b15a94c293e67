import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@temporalio/client";
import { type ReplayWorkerOptions, Worker, type WorkerOptions } from "@temporalio/worker";

import { WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { type HistoryEvent, stagesOf } from "../replay/stored.ts";
import { findTemporalCli } from "../../src/servers/find-temporal-cli.ts";

const execFileAsync = promisify(execFile);

export interface Replays {
  readonly replayed: number;
  /** Of histories that do not replay, or lack a summary. */
  readonly errors: readonly string[];
}

/** Replays every history of the namespace against the bundled workflows, and looks whether each reads as a story. */
export async function replayHistories(client: Client, workflowBundle: { codePath: string }): Promise<Replays> {
  let replayed = 0;
  const errors: string[] = [];
  const types = Object.values(WORKFLOW_TYPES).map((type) => `'${type}'`);
  const histories = client.workflow
    .list({ query: `WorkflowType IN (${types.join(", ")})` })
    .intoHistories({ concurrency: 4 });
  // Errors come as results, not as throws, so each is looked at.
  const inspected = inspect(histories, errors);
  for await (const { workflowId, error } of Worker.runReplayHistories(replayOf(workflowBundle), inspected)) {
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

/** The same histories. Adds to the errors each activity, timer and child workflow without a summary. */
async function* inspect<One extends { workflowId: string; history: unknown }>(
  histories: AsyncIterable<One>,
  errors: string[],
): AsyncGenerator<One> {
  for await (const one of histories) {
    const { events } = one.history as { events: RecordedEvent[] };
    for (const event of events) {
      const what = nameOfStep(event);
      if (what !== undefined && !event.userMetadata?.summary?.data?.length)
        errors.push(`${one.workflowId} has no summary of ${what}`);
    }
    yield one;
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

/** @throws where a history of the namespace does not replay, or there is none */
export async function replayAll(client: Client, workflowBundle: { codePath: string }): Promise<void> {
  const { replayed, errors } = await replayHistories(client, workflowBundle);
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

/**
 * Writes the namespace's histories into a folder, to be stored (`RECORD_HISTORIES=folder npx vitest run --project
 * system --project slow …`): one of each shape, which is the set of what happens in it and of its steps between stages,
 * and without what belongs to the machine (identities, stack traces).
 */
export async function recordAll(
  client: Client,
  server: { address: string; namespace: string },
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const cli = await findTemporalCli({});
  const machine = new Set(["identity", "stackTrace", "binaryChecksum", "workerVersion"]);
  for await (const { workflowId, runId, status } of client.workflow.list()) {
    if (status.name === "RUNNING") continue;
    const run = ["--workflow-id", workflowId, "--run-id", runId];
    const where = ["--address", server.address, "--namespace", server.namespace];
    const asked = ["workflow", "show", "--output", "json", ...run, ...where];
    const { stdout } = await execFileAsync(cli, asked, { maxBuffer: 2 ** 28 });
    const history = JSON.parse(stdout, (key, value: unknown) => (machine.has(key) ? undefined : value)) as {
      events: Event[];
    };
    const type = history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name ?? "none";
    const stages = stagesOf(history.events);
    const steps = stages.map((stage, at) => `${stages[at - 1] ?? "start"} → ${stage}`);
    const shape = [...new Set([...history.events.map(nameOf), ...steps])].toSorted().join("\n");
    const name = `${type}-${createHash("sha256").update(shape).digest("hex").slice(0, 8)}.json`;
    // An exclusive write: of several suites with the same shape the first one's is kept.
    await writeFile(join(folder, name), `${JSON.stringify(history)}\n`, { flag: "wx" }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    });
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
