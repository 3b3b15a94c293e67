import { CancellationScope } from "@temporalio/workflow";

import { type ClaimedTry, type ProcessBatchResult, whyNotDone } from "../../src/contract/index.ts";
import { answerOf } from "../calls/claimed-tries.ts";
import { type AccountingCalls, ledger } from "../proxies.ts";

/**
 * Sends one try, at most once. What is known, but could not be written down while the ledger was away, is written
 * before anything hangs on it. Not ended by a cancellation: nobody would know what became of it.
 */
export function sendBatch(
  { unrepeatableWrite }: AccountingCalls,
  batch: { connection: string; syncBatchId: string },
  one: ClaimedTry,
): Promise<ProcessBatchResult> {
  const { generation } = one;
  return CancellationScope.nonCancellable(async () => {
    const sent = await unrepeatableWrite.processSyncBatch("Have the batch processed", { ...batch, ...one });
    const result = await answerOf(sent, () =>
      ledger.readBatch("Read what became of it from its claim", { ...batch, generation }),
    );
    if (!("unsettled" in result)) return result;
    const outcome =
      result.kind === "processed"
        ? { kind: result.kind, message: result.message }
        : { kind: "not-processed" as const, message: whyNotDone(result) };
    await ledger.settleBatch("Write the outcome into the claim", { ...batch, ...one, outcome });
    return result;
  });
}
