import { CancellationScope, condition, defineUpdate, setHandler } from "@temporalio/workflow";

import {
  type BatchProgress,
  type JobReply,
  type ResolveBatchRequest,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { Job } from "../job/job.ts";
import { quoted } from "../operator/details.ts";
import { checkedObject, notAllowed, REPLY_SUMMARY, REPLY_WITHIN, requireText } from "../operator/updates.ts";

const resolveBatchUpdate = defineUpdate<JobReply, [ResolveBatchRequest]>(UPDATES.resolveBatch);

/** A run of one batch, and a person's word on it. */
export class BatchJob extends Job<BatchProgress> {
  /** Taken up by the step that waits for it. */
  word: (ResolveBatchRequest & { atMs: number }) | undefined;

  constructor(syncBatchId: string) {
    const progress: BatchProgress = { syncBatchId, standing: "waiting" };
    super({ workflow: WORKFLOW_TYPES.processSyncBatch, noun: "The batch", progress, describe });
  }

  get isUnknown(): boolean {
    return this.needs("batch-unknown");
  }

  /** To be called before the first await: an early message finds its handler. */
  wireResolution(): void {
    setHandler(resolveBatchUpdate, (request) => this.#resolve(request), {
      description: 'Say whether the batch was processed. Takes {"processed", "note", "by"?}.',
      validator: (message) => checkResolveBatch(this, message),
    });
  }

  #resolve({ processed, note, by }: ResolveBatchRequest): Promise<JobReply> {
    return CancellationScope.nonCancellable(async () => {
      const atMs = Date.now();
      this.word = { processed, note, ...(by !== undefined && { by }), atMs };
      const answer = processed ? "processed" : "not processed";
      this.decide({ update: "resolveBatch", code: "batch-unknown", answer, note, by }, atMs);
      await condition(() => !this.isUnknown, REPLY_WITHIN, { summary: REPLY_SUMMARY });
      const [attention] = this.attentions;
      return { message: `Kept. It waits for ${this.waitingFor}.`, ...(attention && { attention: attention.code }) };
    });
  }
}

/** Validates the update `resolveBatch`. */
export function checkResolveBatch(job: BatchJob, message: unknown): void {
  const request = checkedObject(job, message, ["processed", "note", "by"]);
  requireText(job, request, "note");
  if (typeof request["processed"] !== "boolean")
    notAllowed(job, "Expected the field processed with true or false in it.");
  if (!job.isUnknown || job.word) notAllowed(job, "The batch is not unknown.");
}

function describe({ syncBatchId, standing, message }: BatchProgress): string[] {
  const id = `Sync batch ${quoted(syncBatchId)} is ${standing}`;
  return message === undefined ? [id] : [id, quoted(message)];
}
