/** Of open sales of one number. */
export interface Figures {
  readonly sales: number;
  /** From the first start until the last one waits. */
  readonly openingSeconds: number;
  readonly workerMb: number;
  readonly workerCpuMsPerSecond: number;
  readonly temporalCpuMsPerSecond: number;
  readonly temporalMb: number;
  /** Reads of a sale's document. */
  readonly pollsPerSecond: number;
  readonly readySeconds: number;
  readonly restartedMb: number;
  /** From the authority's answers to all, each called back, until the last sale is completed. */
  readonly recoverySeconds: number;
  readonly largestMb: number;
}

/** However many sales are open. */
const MOST_WORKER_MB = 600;
const MOST_READY_SECONDS = 2.5;
/** A little more than in proportion: one sale's recovery must not cost more for there being many. */
const MOST_RECOVERY_EXPONENT = 1.05;

/** What is beyond its limit, a line each. */
export function beyondLimits(all: readonly Figures[]): string[] {
  const beyond = all.flatMap(({ sales, workerMb, restartedMb, largestMb, readySeconds }) => {
    const mb = Math.round(Math.max(workerMb, restartedMb, largestMb));
    return [
      ...(mb > MOST_WORKER_MB ? [`with ${sales} open sales the worker took ${mb} MB (${MOST_WORKER_MB})`] : []),
      ...(readySeconds > MOST_READY_SECONDS
        ? [`with ${sales} open sales the worker served after ${readySeconds.toFixed(1)} s (${MOST_READY_SECONDS})`]
        : []),
    ];
  });
  const grows = exponent(all, ({ recoverySeconds }) => recoverySeconds) ?? 0;
  if (grows > MOST_RECOVERY_EXPONENT)
    beyond.push(`recovery grows by the power of ${grows.toFixed(2)} (${MOST_RECOVERY_EXPONENT})`);
  return beyond;
}

/** With which power of the number of sales a figure grows, from the smallest size to the largest. */
export function exponent(all: readonly Figures[], figure: (one: Figures) => number): number | undefined {
  const [first, last] = [all[0], all.at(-1)];
  if (!first || !last || first === last) return undefined;
  return Math.log(figure(last) / figure(first)) / Math.log(last.sales / first.sales);
}
