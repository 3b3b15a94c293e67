import { Client, type Connection } from "@temporalio/client";

import type { Config } from "../../config/index.ts";
import { describeError } from "../describe-error.ts";
import { reconcileSchedules, type ScheduleChange } from "../setup/reconcile-schedules.ts";
import { wantedSchedules } from "../setup/wanted-schedules.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** Of the Schedules that `fiscalflow setup` keeps for this configuration; none where it wants none. */
export async function checkSchedules(connection: Connection, namespace: string, config: Config): Promise<Finding[]> {
  const client = new Client({ connection, namespace });
  try {
    return schedulesFindings(await reconcileSchedules(client, wantedSchedules(config), { dryRun: true }));
  } catch (error) {
    // Sales do not need them.
    return [warning("Schedules", describeError(error, { withStack: false }).message)];
  }
}

/** @param changes that setup would make */
export function schedulesFindings(changes: readonly ScheduleChange[]): Finding[] {
  if (changes.length === 0) return [];
  const idsOf = (what: string, is: (change: ScheduleChange) => boolean): string[] => {
    const ids = changes.filter(is).map(({ id }) => id);
    return ids.length === 0 ? [] : [`${what}: ${ids.join(", ")}`];
  };
  const toSetUp = [
    ...idsOf("missing", ({ change }) => change === "created"),
    ...idsOf("changed by hand", ({ change }) => change === "repaired"),
    ...idsOf("no longer wanted", ({ change }) => change === "removed"),
  ];
  const paused = idsOf("paused", (change) => change.paused === true);
  const problems = [...toSetUp, ...paused].join("; ");
  if (problems === "") return [ok("Schedules", `all ${changes.length} are there, and none is paused`)];
  const todo =
    toSetUp.length > 0 ? "run `fiscalflow setup`" : "unpause them in Temporal's UI when they are to run again";
  return [warning("Schedules", problems, todo)];
}
