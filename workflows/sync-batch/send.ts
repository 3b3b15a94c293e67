import { CancellationScope } from "@temporalio/workflow";

import type { AccountingProfile, BatchTry, ProcessBatchResult } from "../../src/contract/index.ts";
import { accountingCallsOf, ledger } from "../proxies.ts";

/**
 * Sends one try. Where its activity ends without an answer, the claim tells what became of it: never taken means never
 * sent, a written outcome is the answer, and a claim without outcome is unknown (docs/architecture.md, "At most once").
 * Not ended by a cancellation: nobody would know what became of it.
 */
export function sendBatch(profile: AccountingProfile, syncBatchId: string, one: BatchTry): Promise<ProcessBatchResult> {
  const { connection } = profile;
  return CancellationScope.nonCancellable(async () => {
    const { unrepeatableWrite } = accountingCallsOf(profile);
    const result = await unrepeatableWrite.processSyncBatch("Have the batch processed", {
      connection,
      syncBatchId,
      ...one,
    });
    if (result.kind !== "lost") return await settleIfUnsettled(connection, syncBatchId, one, result);
    const { generation } = one;
    const found = await ledger.readBatch("Read what became of it from its claim", {
      connection,
      syncBatchId,
      generation,
    });
    return found.kind === "unknown" ? { ...found, message: `${result.message} ${found.message}` } : found;
  });
}

/** What is known, but could not be written down while the ledger was away, is written before anything hangs on it. */
async function settleIfUnsettled(
  connection: string,
  syncBatchId: string,
  one: BatchTry,
  result: ProcessBatchResult,
): Promise<ProcessBatchResult> {
  if (!("unsettled" in result) || !result.unsettled) return result;
  const outcome =
    result.kind === "processed"
      ? { kind: result.kind, message: result.message }
      : {
          kind: "not-processed" as const,
          message: result.kind === "deferred" ? result.message : result.refusal.message,
        };
  await ledger.settleBatch("Write the outcome into the claim", { connection, syncBatchId, ...one, outcome });
  return result;
}
