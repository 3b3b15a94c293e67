import { setMaxListeners } from "node:events";

import type { DemoStack } from "../start-demo-stack.ts";
import { type BackOfficeJob, backOfficeJobs, type JobEnd } from "./back-office-jobs.ts";

/** What came of one job. */
export interface JobResult extends JobEnd {
  readonly job: Pick<BackOfficeJob, "workflow" | "workflowId">;
  /** That both services were asked meanwhile. */
  readonly apiCalls: number;
  readonly tookMs: number;
}

export interface RunJobsOptions {
  readonly signal: AbortSignal;
  /** Called with how far the job is that runs now. */
  readonly onProgress: (job: BackOfficeJob, line: string) => void;
  readonly onEnd: (result: JobResult) => void;
}

/** One job after the other. @throws the signal's reason, or what made a worker fail */
export async function runJobs(stack: DemoStack, options: RunJobsOptions): Promise<JobResult[]> {
  const results: JobResult[] = [];
  const signal = AbortSignal.any([options.signal]);
  // Every look listens to it: that is many, and no leak.
  setMaxListeners(0, signal);
  for (const job of backOfficeJobs(stack.plan)) {
    const result = await Promise.race([runJob(stack, job, { ...options, signal }), stack.workers.failed]);
    results.push(result);
    options.onEnd(result);
  }
  return results;
}

async function runJob(stack: DemoStack, job: BackOfficeJob, options: RunJobsOptions): Promise<JobResult> {
  const { client, simulator } = stack;
  const { signal, onProgress } = options;
  const calls = (): number => simulator.calls().length + simulator.accounting.calls().length;
  const [startedAtMs, before] = [Date.now(), calls()];
  const following = { signal, onProgress: (line: string) => onProgress(job, line) };
  const end = await client
    .withAbortSignal(signal, () => job.run(client, following))
    .catch((error: unknown): JobEnd => {
      signal.throwIfAborted();
      return { lines: [], problem: error instanceof Error ? error.message : String(error) };
    });
  return { job, ...end, apiCalls: calls() - before, tookMs: Date.now() - startedAtMs };
}
