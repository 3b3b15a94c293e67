import { Context } from "@temporalio/activity";

import type { AccountingActivities, ProcessBatchRequest, ProcessBatchResult } from "../../src/contract/index.ts";
import { type Ledger, LedgerUnavailableError } from "../../src/ledger/index.ts";
import { cameBack, notServedMessage, refusalOf } from "../classified-call.ts";
import { afterQuotaMs } from "../failure.ts";
import { toBatchResult } from "../ledger/batches.ts";
import { writerOf } from "../ledger/beside-calls.ts";
import { callAndClassify } from "./call-and-classify.ts";
import type { AccountingContext, AccountingRuntime } from "./runtime.ts";

/**
 * A batch is sent at most once for each claim, so nothing here throws in order to be repeated, and nothing is tied to
 * the activity's cancellation: an aborted request would be one more unknown outcome.
 */
export function createSyncBatchActivities(context: AccountingContext): Pick<AccountingActivities, "processSyncBatch"> {
  const { ledger } = context;
  return {
    async processSyncBatch(request) {
      const runtime = context.accounting.get(request.connection);
      // Nothing was sent, and only a result says so: a failure would be one more unknown outcome.
      if (!runtime) {
        return { kind: "deferred", sameTry: true, message: notServedMessage(context.accounting, request.connection) };
      }
      const taken = await take(ledger, request);
      if (taken !== "taken") return taken;
      const result = await send(runtime, request, context);
      if (result.kind === "unknown") return result;
      const outcome =
        result.kind === "processed"
          ? result
          : {
              kind: "not-processed" as const,
              message: result.kind === "deferred" ? result.message : result.refusal.message,
            };
      return (await settle(ledger, request, outcome)) ? result : { ...result, unsettled: true };
    },
  };
}

/** Without a claim nothing leaves. */
async function take(ledger: Ledger, request: ProcessBatchRequest): Promise<"taken" | ProcessBatchResult> {
  const { connection, syncBatchId, generation, token } = request;
  const writer = writerOf(Context.current().info);
  try {
    const answer = await ledger.syncBatches.take({ connection, syncBatchId, generation, token, writer });
    return answer.kind === "taken" ? "taken" : toBatchResult(answer);
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    return { kind: "deferred", sameTry: true, waitFor: "ledger", message: error.message };
  }
}

/** True where the outcome is written down. The answer is the caller's all the same. */
async function settle(
  ledger: Ledger,
  { connection, syncBatchId, generation, token }: ProcessBatchRequest,
  { kind, message }: { kind: "processed" | "not-processed"; message: string },
): Promise<boolean> {
  const writer = writerOf(Context.current().info);
  try {
    await ledger.syncBatches.settle({
      connection,
      syncBatchId,
      generation,
      token,
      outcome: { kind, message },
      writer,
    });
    return true;
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return false;
    throw error;
  }
}

type Sent = Extract<ProcessBatchResult, { kind: "processed" | "deferred" | "not-processed" | "unknown" }>;

async function send(
  runtime: AccountingRuntime,
  { syncBatchId }: ProcessBatchRequest,
  { nowMs, random }: AccountingContext,
): Promise<Sent> {
  const sentAtMs = nowMs();
  const classified = await callAndClassify(runtime, "processSyncBatch", () =>
    runtime.client.processSyncBatch(syncBatchId),
  );
  const { data, meaning, error, message } = classified;
  if (data) return { kind: "processed", message: data.message };
  if (meaning.kind === "deferred") {
    return { kind: "deferred", retryAfterMs: afterQuotaMs(meaning.retryAfterMs, random), message };
  }
  if (meaning.kind === "not-applied") return { kind: "deferred", message };
  if (meaning.kind === "configuration" || meaning.kind === "refused")
    return { kind: "not-processed", refusal: refusalOf(classified) };
  return { kind: "unknown", message, evidence: { sentAtMs, ...cameBack(error) } };
}
