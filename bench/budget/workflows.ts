import { ApplicationFailure, type Priority } from "@temporalio/common";
import { proxyActivities } from "@temporalio/workflow";

import type { ComplianceActivities, ReadDocumentResult } from "../../src/contract/index.ts";

/** Work of one call each: the product's own activity on the product's own task queues. */
export interface Way {
  readonly taskQueue: string;
  readonly priority: Priority;
}

export interface Job {
  readonly connection: string;
  readonly businessId: string;
  readonly saleId: string;
}

export interface Work {
  readonly way: Way;
  /** One call after the other on each of these documents, all documents at once. */
  readonly jobs: readonly Job[];
}

const LONGEST_ATTEMPT = "60 seconds";

function reader({ taskQueue, priority }: Way): (job: Job) => Promise<void> {
  const activities = proxyActivities<Pick<ComplianceActivities, "readDocument">>({
    taskQueue,
    priority,
    startToCloseTimeout: LONGEST_ATTEMPT,
  });
  return async (job) => {
    // The comparisons answer with nothing.
    const result: ReadDocumentResult | undefined = await activities.readDocument(job);
    // A refusal costs no wait: a backlog of them would only turn in circles.
    if (result?.kind === "refused") throw ApplicationFailure.nonRetryable(result.message);
  };
}

/** A backlog that never ends: the benchmark terminates it. */
export async function backlog({ way, jobs }: Work): Promise<void> {
  const read = reader(way);
  await Promise.all(
    jobs.map(async (job) => {
      for (;;) await read(job);
    }),
  );
}

export async function oneCall({ way, jobs }: Work): Promise<void> {
  const read = reader(way);
  for (const job of jobs) await read(job);
}
