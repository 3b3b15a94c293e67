import { Context } from "@temporalio/activity";

import type { LedgerActivities } from "../../src/contract/index.ts";
import { writerOf } from "./beside-calls.ts";
import type { LedgerContext } from "./movements.ts";

export function createBatchLedgerActivities({
  ledger: { syncBatches },
}: LedgerContext): Pick<LedgerActivities, "readBatch" | "settleBatch" | "decideBatch"> {
  const writer = () => writerOf(Context.current().info);
  return {
    readBatch: (request) => syncBatches.readOrBury({ ...request, writer: writer() }),
    settleBatch: (request) => syncBatches.settle({ ...request, writer: writer() }),
    decideBatch: (request) => syncBatches.decide({ ...request, writer: writer() }),
  };
}
