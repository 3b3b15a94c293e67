import { condition, continueAsNew } from "@temporalio/workflow";

import type { AccountingProfile, ProcessSyncBatchInput, SyncBatchOutcome } from "../../src/contract/index.ts";
import { BetweenTries } from "../calls/between-tries.ts";
import { ClaimGenerations } from "../calls/claimed-tries.ts";
import { registerJobMessages, runJobToCompletion } from "../job/job.ts";
import { accountingCallsOf, main } from "../proxies.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";
import { BATCH_UPDATES, BatchJob } from "./batch-job.ts";
import { sendBatch } from "./send.ts";
import { resolveUnknownBatch } from "./unknown-batch.ts";

/**
 * Has one sync batch processed, at most once: what its request came to is written into a claim, and a claim without
 * outcome waits for an operator (docs/architecture.md, "At most once"). A batch whose claim says that it was processed
 * is not sent again, by whomever it is started.
 */
export async function processSyncBatch(input: ProcessSyncBatchInput): Promise<SyncBatchOutcome> {
  const job = new BatchJob(String(input?.syncBatchId));
  registerJobMessages(job, BATCH_UPDATES);
  return await runJobToCompletion(async () => {
    const { profile, syncBatchId } = await main.prepareSyncBatch("Check the request and find the connection", {
      input,
    });
    const outcome = await sendUntilProcessed(job, profile, syncBatchId);
    // The claim knows which try is next.
    if (outcome === "to be continued") {
      await condition(everyUpdateIsAnswered);
      return await continueAsNew<typeof processSyncBatch>(input);
    }
    job.moveOn("nothing", { standing: "processed", message: outcome.message });
    return outcome;
  });
}

async function sendUntilProcessed(
  job: BatchJob,
  profile: AccountingProfile,
  syncBatchId: string,
): Promise<SyncBatchOutcome | "to be continued"> {
  const calls = accountingCallsOf(job, profile);
  const claims = new ClaimGenerations();
  const betweenTries = new BetweenTries(job);
  for (;;) {
    if (job.continueAsNew.dueBetweenPages) return "to be continued";
    job.moveOn("the service's answer", { standing: "waiting" });
    const sent = await sendBatch(calls, { connection: profile.connection, syncBatchId }, claims.current);
    const result =
      sent.kind === "unknown"
        ? await resolveUnknownBatch(job, profile, syncBatchId, { generation: claims.current.generation, ...sent })
        : sent;
    if (result.kind !== "not-processed" && result.kind !== "deferred") betweenTries.clearRefusal();
    switch (result.kind) {
      case "processed":
        return { syncBatchId, saidBy: "service", message: result.message };
      case "said-processed":
        return { syncBatchId, saidBy: "person", message: result.word.note };
      case "superseded":
        claims.next(result.generation);
        break;
      case "not-processed":
        job.moveOn("an operator", { standing: "parked", message: result.refusal.message });
        await betweenTries.waitAfterRefusal(result.refusal);
        claims.next();
        break;
      case "deferred":
        job.moveOn(result.waitFor === "ledger" ? "the ledger" : "another try", { message: result.message });
        await betweenTries.waitAfterDeferral(result, () => false);
        if (!result.sameTry) claims.next();
        break;
    }
  }
}
