import { boundedName } from "./bounded-name.ts";
import { MAX_WORKFLOW_ID_LENGTH } from "./ids.ts";
import type { WorkflowType } from "./names.ts";

/**
 * What `setup` keeps in Temporal's Schedules: all that begin with this are the product's own, and one that nothing asks
 * for is removed.
 */
export const SCHEDULE_PREFIX = "fiscalflow/";

/** `fiscalflow/<workflow id>/<which>` */
export function scheduleId(workflowId: string, which: string): string {
  return boundedName(`${SCHEDULE_PREFIX}${workflowId}/${which}`, MAX_WORKFLOW_ID_LENGTH);
}

/**
 * Input of the `scheduled` workflow: what a Schedule starts. Temporal puts the time behind the id of a workflow that a
 * Schedule starts, so this one starts the other under the one id that it may have.
 */
export interface ScheduledInput {
  workflow: WorkflowType;
  workflowId: string;
  input: { connection: string; businessId?: string; full?: boolean };
  /** `skip`: the one that runs does it; `wait`: it does less, so this one follows it. */
  ifRunning: "skip" | "wait";
}

export type ScheduledOutcome = "started" | "skipped";
