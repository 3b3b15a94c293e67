import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from "@temporalio/client";
import type { ScheduleDescription, ScheduleOptions, ScheduleUpdateOptions } from "@temporalio/client";

import { aboutWorkflow, MAIN_TASK_QUEUE, SCHEDULE_PREFIX, WORKFLOW_TYPES } from "../../contract/index.ts";
import type { Wanted, WantedSchedule } from "./wanted-schedules.ts";

export interface ScheduleChange {
  id: string;
  change: "created" | "repaired" | "removed" | "unchanged";
  /** What differed. */
  drift?: string[];
  /** An operator has paused it, and it stays so. */
  paused?: true;
}

/** A missed start is made good for so long; the next one comes anyway. */
const CATCHUP_MS = 10 * 60_000;

/**
 * Makes Temporal's Schedules what the configuration wants: creates what is missing, repairs what differs, removes what
 * nothing asks for. To be run again at any time; with `dryRun` it only says what it would do.
 */
export async function reconcileSchedules(
  client: Client,
  wanted: Wanted,
  { dryRun }: { dryRun: boolean },
): Promise<ScheduleChange[]> {
  const changes: ScheduleChange[] = [];
  for (const schedule of wanted.schedules) changes.push(await reconcile(client, schedule, dryRun));
  const known = new Set(wanted.schedules.map(({ id }) => id));
  for await (const { scheduleId } of client.schedule.list()) {
    if (known.has(scheduleId) || !scheduleId.startsWith(SCHEDULE_PREFIX)) continue;
    if (!wanted.speaksFor.some((beginning) => scheduleId.startsWith(beginning))) continue;
    if (!dryRun) await remove(client, scheduleId);
    changes.push({ id: scheduleId, change: "removed" });
  }
  return changes;
}

async function reconcile(client: Client, schedule: WantedSchedule, dryRun: boolean): Promise<ScheduleChange> {
  const { id } = schedule;
  const handle = client.schedule.getHandle(id);
  const found = await describe(client, id);
  if (!found) {
    if (!dryRun && !(await create(client, schedule))) return reconcile(client, schedule, dryRun);
    return { id, change: "created" };
  }
  const paused = found.state.paused ? { paused: true as const } : {};
  const drift = driftOf(found, schedule);
  if (drift.length === 0) return { id, change: "unchanged", ...paused };
  // An operator's pause and its note stay.
  if (!dryRun) await handle.update(({ state }): ScheduleUpdateOptions => ({ ...optionsOf(schedule), state }));
  return { id, change: "repaired", drift, ...paused };
}

async function describe(client: Client, id: string): Promise<ScheduleDescription | undefined> {
  try {
    return await client.schedule.getHandle(id).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

/** @returns false where somebody else has made it meanwhile */
async function create(client: Client, schedule: WantedSchedule): Promise<boolean> {
  try {
    await client.schedule.create({ scheduleId: schedule.id, ...optionsOf(schedule) });
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

async function remove(client: Client, id: string): Promise<void> {
  try {
    await client.schedule.getHandle(id).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

function optionsOf({ id, everyMs, offsetMs, input }: WantedSchedule): Pick<ScheduleOptions, "spec" | "policies"> & {
  action: Extract<ScheduleOptions["action"], { type: "startWorkflow" }>;
} {
  return {
    spec: { intervals: [{ every: everyMs, offset: offsetMs }] },
    action: {
      type: "startWorkflow",
      workflowType: WORKFLOW_TYPES.scheduled,
      workflowId: id,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      ...aboutWorkflow(WORKFLOW_TYPES.scheduled, input.input, `of ${input.workflow}`),
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_MS },
  };
}

/** In which points a Schedule is not as it is wanted. */
function driftOf({ spec, action, policies }: ScheduleDescription, wanted: WantedSchedule): string[] {
  const options = optionsOf(wanted);
  const intervals = (spec.intervals ?? []).map(({ every, offset }) => [Number(every), Number(offset ?? 0)]);
  const others = [spec.calendars, spec.skip].some((list) => (list?.length ?? 0) > 0);
  const points: [string, boolean][] = [
    ["interval", same(intervals, [[wanted.everyMs, wanted.offsetMs]]) && !others],
    ["workflow", action.type === "startWorkflow" && action.workflowType === options.action.workflowType],
    ["task queue", action.type === "startWorkflow" && action.taskQueue === options.action.taskQueue],
    ["input", action.type === "startWorkflow" && same(action.args ?? [], [wanted.input])],
    ["overlap policy", policies.overlap === ScheduleOverlapPolicy.SKIP],
    ["catch-up window", Number(policies.catchupWindow) === CATCHUP_MS],
  ];
  return points.flatMap(([name, fine]) => (fine ? [] : [name]));
}

/** By what they say, in whatever order their fields come. */
function same(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([x], [y]) => (x < y ? -1 : 1)))
      : part,
  );
}
