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
  /** Of worker and Temporal, for one sale: what the receiver's pace does not change. */
  readonly recoveryCpuMs: number;
  readonly largestMb: number;
  /** The longest that a new sale took meanwhile, from its start until the API had its document. */
  readonly tillSeconds: number;
}

/**
 * However many sales are open. The exponent is a little more than in proportion: one sale's recovery must not cost more
 * for there being many.
 */
export const LIMITS = { workerMb: 600, readySeconds: 2.5, recoveryExponent: 1.05 } as const;

/** Of the worker, whenever that was. */
export function mostMb({ workerMb, restartedMb, largestMb }: Figures): number {
  return Math.round(Math.max(workerMb, restartedMb, largestMb));
}

/** Of one sale. */
export function recoveryMs({ recoverySeconds, sales }: Figures): number {
  return (recoverySeconds * 1_000) / sales;
}

/** What is beyond its limit, a line each. */
export function beyondLimits(all: readonly Figures[]): string[] {
  const beyond = all.flatMap((one) => {
    const { sales, readySeconds } = one;
    const mb = mostMb(one);
    return [
      ...(mb > LIMITS.workerMb ? [`with ${sales} open sales the worker took ${mb} MB (${LIMITS.workerMb})`] : []),
      ...(readySeconds > LIMITS.readySeconds
        ? [`with ${sales} open sales the worker served after ${readySeconds.toFixed(1)} s (${LIMITS.readySeconds})`]
        : []),
    ];
  });
  const grows = exponent(all, ({ recoverySeconds }) => recoverySeconds) ?? 0;
  if (grows > LIMITS.recoveryExponent)
    beyond.push(`recovery grows by the power of ${grows.toFixed(2)} (${LIMITS.recoveryExponent})`);
  return beyond;
}

/** With which power of the number of sales a figure grows, from the smallest size to the largest. */
export function exponent(all: readonly Figures[], figure: (one: Figures) => number): number | undefined {
  const [first, last] = [all[0], all.at(-1)];
  if (!first || !last || first === last) return undefined;
  return Math.log(figure(last) / figure(first)) / Math.log(last.sales / first.sales);
}
