import type { AccountingActivities } from "../../src/contract/index.ts";
import { claimedCall } from "../claimed-call.ts";
import { notServedMessage } from "../classified-call.ts";
import { currentWriter } from "../ledger/beside-calls.ts";
import { callAndClassify } from "./call-and-classify.ts";
import type { AccountingContext } from "./runtime.ts";

/** A batch is sent at most once for each claim, so nothing here throws in order to be repeated. */
export function createSyncBatchActivities(context: AccountingContext) {
  const { syncBatches } = context.ledger;
  return {
    async processSyncBatch(request) {
      const runtime = context.accounting.get(request.connection);
      // Nothing was sent, and only a result says so: a failure would be one more unknown outcome.
      if (!runtime)
        return { kind: "deferred", sameTry: true, message: notServedMessage(context.accounting, request.connection) };
      const claim = { ...request, writer: currentWriter() };
      const call = () => runtime.client.processSyncBatch(request.syncBatchId);
      return await claimedCall(context, {
        take: () => syncBatches.take(claim),
        send: () => callAndClassify(runtime, "processSyncBatch", call),
        done: ({ message }) => ({ kind: "processed" as const, message }),
        not: "not-processed",
        settle: (outcome) => syncBatches.settle({ ...claim, outcome }),
      });
    },
  } satisfies Partial<AccountingActivities>;
}
