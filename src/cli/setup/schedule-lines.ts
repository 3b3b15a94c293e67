import type { ScheduleChange } from "./reconcile-schedules.ts";
import type { Wanted } from "./wanted-schedules.ts";

const DONE: Readonly<Record<ScheduleChange["change"], string>> = {
  created: "created",
  repaired: "repaired",
  removed: "removed",
  unchanged: "was there",
};

const WOULD: Readonly<Record<ScheduleChange["change"], string>> = {
  created: "would be created",
  repaired: "would be repaired",
  removed: "would be removed",
  unchanged: "is there",
};

/** What became of each Schedule, a line each. */
export function scheduleLines(
  changes: readonly ScheduleChange[],
  { notScheduled, speaksFor }: Pick<Wanted, "notScheduled" | "speaksFor">,
  dryRun: boolean,
): string[] {
  if (speaksFor.length === 0) return ["No connection is configured here: Schedules are left as they are."];
  return [
    ...changes.map(({ id, change, drift, paused }) => {
      const what = (dryRun ? WOULD : DONE)[change];
      const why = drift === undefined ? "" : ` (${drift.join(", ")} differed)`;
      return `Schedule ${id}: ${what}${why}${paused === true ? "; it is paused, and stays so" : ""}`;
    }),
    ...notScheduled.map(({ what, why }) => `No Schedule for ${what}: ${why}`),
  ];
}
