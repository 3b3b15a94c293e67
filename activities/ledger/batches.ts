import type { LedgerActivities } from "../../src/contract/index.ts";
import { currentWriter } from "./beside-calls.ts";
import type { LedgerContext } from "./movements.ts";

export function createBatchLedgerActivities({ ledger: { syncBatches } }: LedgerContext) {
  return {
    readBatch: (request) => syncBatches.readOrBury({ ...request, writer: currentWriter() }),
    settleBatch: (request) => syncBatches.settle({ ...request, writer: currentWriter() }),
    decideBatch: (request) => syncBatches.decide({ ...request, writer: currentWriter() }),
  } satisfies Partial<LedgerActivities>;
}
