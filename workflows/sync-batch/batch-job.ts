import { type BatchProgress, type ResolveBatchRequest, WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { Job } from "../job/job.ts";
import { quoted } from "../operator/details.ts";
import { COMMON_UPDATES, type Update, type UpdateTable } from "../operator/updates.ts";

/** A run of one batch, and an operator's decision on it. */
export class BatchJob extends Job<BatchProgress> {
  /** Taken up by the step that waits for it. */
  word: (ResolveBatchRequest & { atMs: number }) | undefined;

  constructor(syncBatchId: string) {
    const progress: BatchProgress = { syncBatchId, standing: "waiting" };
    super({ workflow: WORKFLOW_TYPES.processSyncBatch, noun: "The batch", progress, describe });
  }
}

const resolveBatch: Update<BatchJob, "resolveBatch"> = {
  name: "resolveBatch",
  refusedBecause: (job) => (job.needs("batch-unknown") && !job.word ? undefined : "The batch is not unknown."),
  act(job, { processed, note, by }) {
    const atMs = Date.now();
    job.word = { processed, note, by, atMs };
    const answer = processed ? "processed" : "not processed";
    job.decide({ update: "resolveBatch", code: "batch-unknown", answer, note, by }, atMs);
  },
  done: "Recorded.",
};

export const BATCH_UPDATES: UpdateTable<BatchJob> = [...COMMON_UPDATES, resolveBatch];

function describe({ syncBatchId, standing, message }: BatchProgress): string[] {
  const id = `Sync batch ${quoted(syncBatchId)} is ${standing}`;
  return message === undefined ? [id] : [id, quoted(message)];
}
