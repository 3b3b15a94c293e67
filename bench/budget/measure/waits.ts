import type { CallEntry } from "../../../src/dev/simulator/index.ts";

/** A job of which it is known when somebody began to wait for it. */
export interface StartedJob {
  readonly saleId: string;
  readonly businessId: string;
  readonly startedMs: number;
}

export interface Wait extends StartedJob {
  /** Until its first call that was not refused arrived at the service; where none did: until the lane ended. */
  readonly waitedMs: number;
  readonly served: boolean;
}

export function waitsOf(jobs: readonly StartedJob[], calls: readonly CallEntry[], endMs: number): Wait[] {
  const servedMs = new Map<string, number>();
  for (const { saleId, status, atMs } of calls)
    if (saleId !== null && status !== null && status !== 429 && !servedMs.has(saleId)) servedMs.set(saleId, atMs);
  return jobs.map((job) => {
    const atMs = servedMs.get(job.saleId);
    return { ...job, served: atMs !== undefined, waitedMs: Math.max(0, (atMs ?? endMs) - job.startedMs) };
  });
}
