import { median } from "../budget/measure/statistics.ts";
import type { BusyFigures } from "./busy.ts";

/** What is told of a number of processes. */
export interface BusyResult {
  readonly processes: number;
  readonly runs: readonly BusyFigures[];
}

/** By how much one connection in trouble may lengthen what 95 of 100 sales of the others take. */
const MOST_RATIO = 1.1;

/**
 * What is beyond its limit, a line each.
 * @param restarts processes that ended while they were to serve
 */
export function beyondLimits(results: readonly BusyResult[], restarts: number): string[] {
  const beyond = results.flatMap(({ processes, runs }) => {
    const of = processes === 1 ? "one process" : `${processes} processes`;
    const ratio = median(runs.map((run) => run.ratio));
    const parked = runs.reduce((sum, { rotation }) => sum + rotation.parked, 0);
    const lost = runs.reduce((sum, { well, troubled }) => sum + well.withoutReceipt + troubled.withoutReceipt, 0);
    return [
      ...(!(ratio <= MOST_RATIO)
        ? [`${of}: one in trouble makes the others ${ratio.toFixed(2)} times slower (${MOST_RATIO})`]
        : []),
      ...(parked > 0 ? [`${of}: a new key parked ${parked} sales (0)`] : []),
      ...(lost > 0 ? [`${of}: ${lost} sales of well shops got no receipt (0)`] : []),
    ];
  });
  return restarts > 0 ? [...beyond, `${restarts} processes ended (0)`] : beyond;
}
