import type { LoneFigures } from "../lone-sales.ts";
import type { JudgedLane, LaneFigures } from "../measure/judge-lane.ts";
import { median } from "../measure/statistics.ts";
import type { RunResult } from "../run-once.ts";

export interface Summary {
  readonly lone: LoneFigures | undefined;
  /** With the windows of the last run, for the plot. */
  readonly lanes: readonly JudgedLane[];
}

/** Of several runs, the median of each figure by itself. */
export function medians(runs: readonly RunResult[]): Summary {
  const last = runs.at(-1);
  const lones = runs.flatMap(({ lone }) => lone ?? []);
  return {
    lone: lones.length === 0 ? undefined : (medianOfEach(lones) as LoneFigures),
    lanes: (last?.lanes ?? []).map(({ lane, windows }) => {
      const figures = runs.flatMap((run) => run.lanes.find((one) => one.lane.name === lane.name)?.figures ?? []);
      return { lane, windows, figures: medianOfEach(figures) as LaneFigures };
    }),
  };
}

function medianOfEach(figures: readonly object[]): unknown {
  const names = new Set(figures.flatMap((one) => Object.keys(one)));
  const entries = figures.map((one) => new Map<string, unknown>(Object.entries(one)));
  return Object.fromEntries(
    [...names].map((name) => {
      const values = entries.map((one) => one.get(name)).filter((value) => typeof value === "number");
      return [name, values.length === 0 ? undefined : median(values)];
    }),
  );
}
