import { condition, continueAsNew, sleep } from "@temporalio/workflow";

import type { AccountingProfile, BatchTry, ProcessSyncBatchInput, SyncBatchOutcome } from "../../src/contract/index.ts";
import { accountingCallsOf } from "../accounting-proxies.ts";
import { carryJob, wireJobMessages } from "../job/carry-job.ts";
import { main } from "../proxies.ts";
import { growingPauseMs } from "../run/growing-pause.ts";
import { ownToken } from "../run/own-token.ts";
import { Refusals } from "../run/refusals.ts";
import { untilLedger } from "../run/until-ledger.ts";
import { everyUpdateIsAnswered } from "../run/updates-come-last.ts";
import { BatchJob } from "./batch-job.ts";
import { sendBatch } from "./send.ts";
import { resolved } from "./unknown-batch.ts";

/**
 * Has one sync batch processed, at most once: what its request came to is written into a claim, and a claim without outcome waits for a
 * person (architecture, decision 6). A batch whose claim says that it was processed is not sent again, by whomever it is started.
 */
export async function processSyncBatch(input: ProcessSyncBatchInput): Promise<SyncBatchOutcome> {
  const job = new BatchJob(String(input?.syncBatchId));
  wireJobMessages(job);
  job.wireResolution();
  return await carryJob(async () => {
    const { profile, syncBatchId } = await main.prepareSyncBatch({ input });
    const { wait } = accountingCallsOf(profile);
    job.awaitService = (tried) => wait.awaitAccounting({ connection: profile.connection, ...tried });
    const outcome = await processed(job, profile, syncBatchId);
    // The claim knows which try is next.
    if (outcome === "to be continued") {
      await condition(everyUpdateIsAnswered);
      return await continueAsNew<typeof processSyncBatch>(input);
    }
    job.moveOn("nothing", { standing: "processed", message: outcome.message });
    return outcome;
  });
}

async function processed(
  job: BatchJob,
  profile: AccountingProfile,
  syncBatchId: string,
): Promise<SyncBatchOutcome | "to be continued"> {
  let one: BatchTry = { generation: 1, token: ownToken() };
  const next = (generation: number): BatchTry => ({ generation: generation + 1, token: ownToken() });
  const refusals = new Refusals(job);
  for (let pauses = 0; ;) {
    if (job.historyIsLong) return "to be continued";
    job.moveOn("the service's answer", { standing: "waiting" });
    const sent = await sendBatch(profile, syncBatchId, one);
    const result = sent.kind === "unknown" ? await resolved(job, profile, syncBatchId, one.generation, sent) : sent;
    if (result.kind !== "not-processed" && result.kind !== "deferred") refusals.over();
    switch (result.kind) {
      case "processed":
        return { syncBatchId, saidBy: "service", message: result.message };
      case "said-processed":
        return { syncBatchId, saidBy: "person", message: result.word.note };
      case "superseded":
        one = next(Math.max(result.generation, one.generation));
        break;
      case "not-processed":
        job.moveOn("a person", { standing: "parked", message: result.refusal.message });
        await refusals.park(result.refusal);
        one = next(one.generation);
        break;
      case "deferred":
        await later(job, result.message, result.waitFor, result.retryAfterMs ?? growingPauseMs(pauses++));
        if (!result.sameTry) one = next(one.generation);
        break;
    }
  }
}

async function later(job: BatchJob, why: string, waitFor: "ledger" | undefined, pauseMs: number): Promise<void> {
  job.moveOn(waitFor === "ledger" ? "the ledger" : "another try", { message: why });
  if (waitFor === "ledger") await untilLedger(() => false);
  else await sleep(pauseMs);
}
