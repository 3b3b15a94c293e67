import type { NewEvent, Writer } from "../events/chain.ts";
import type { BatchDecision } from "./sync-batches.ts";

/** What has happened to a batch, by the kind of the event. */
export interface BatchEvents {
  /** Again: by another execution, where the one that took it is known to have ended without sending. */
  "batch-taken": { generation: number; token: string; execution: string };
  "batch-processed": { generation: number; message: string };
  "batch-not-processed": { generation: number; message: string };
  "batch-buried": { generation: number };
  /** Under the newest generation, whichever try the word was about. */
  "batch-decided": { generation: number } & BatchDecision;
}

export type BatchEvent = { [Kind in keyof BatchEvents]: { what: Kind; detail: BatchEvents[Kind] } }[keyof BatchEvents];

export const BATCH_KINDS = [
  "batch-taken",
  "batch-processed",
  "batch-not-processed",
  "batch-buried",
  "batch-decided",
] as const satisfies readonly (keyof BatchEvents)[];

export function subjectOf(syncBatchId: string): string {
  return `sync batch ${syncBatchId}`;
}

export function batchEvent(syncBatchId: string, { what, detail }: BatchEvent, writer: Writer): NewEvent {
  return { kind: what, subject: subjectOf(syncBatchId), content: { syncBatchId, ...detail }, writer };
}
