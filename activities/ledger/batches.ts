import { Context } from "@temporalio/activity";

import type {
  LedgerActivities,
  ProcessedBatch,
  ReadBatchResult,
  SaidProcessed,
  SupersededBatchTry,
} from "../../src/contract/index.ts";
import type { KnownBatch } from "../../src/ledger/index.ts";
import { wordOf, writerOf } from "./beside-calls.ts";
import type { LedgerContext } from "./movements.ts";

export function createBatchLedgerActivities({
  ledger,
}: LedgerContext): Pick<LedgerActivities, "readBatch" | "settleBatch" | "decideBatch"> {
  const writer = () => writerOf(Context.current().info);
  return {
    readBatch: async (request) => toBatchResult(await ledger.syncBatches.readOrBury({ ...request, writer: writer() })),

    settleBatch: (request) => ledger.syncBatches.settle({ ...request, writer: writer() }),

    decideBatch: async ({ connection, syncBatchId, generation, processed, word }) => {
      const decision = { processed, ...word };
      const key = { connection, syncBatchId, generation };
      return toBatchResult(await ledger.syncBatches.decide({ ...key, decision, writer: writer() }));
    },
  };
}

/** In the workflow's words. */
export function toBatchResult(
  known: Exclude<KnownBatch, { kind: "held" }>,
): ProcessedBatch | SaidProcessed | SupersededBatchTry;
export function toBatchResult(known: KnownBatch): ReadBatchResult;
export function toBatchResult(known: KnownBatch): ReadBatchResult {
  switch (known.kind) {
    case "processed":
      if (known.decision) return { kind: "said-processed", word: wordOf(known.decision) };
      return { kind: "processed", message: known.message };
    case "behind":
      return { kind: "superseded", generation: known.generation };
    case "held": {
      const takenAt = new Date(known.takenAtMs).toISOString();
      const message = `It was taken to be sent at ${takenAt} by ${known.holder}, and no outcome was written down.`;
      return { kind: "unknown", message, evidence: { takenAt, takenBy: known.holder } };
    }
  }
}
