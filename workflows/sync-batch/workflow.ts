/**
 * The job `processSyncBatch`: has one sync batch of the accounting service processed, at most once. Its bill payments
 * are read by `workflows/synced/bill-payments.ts`.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/calls`, `workflows/job`, `workflows/operator`.
 */
import { CancellationScope, sleep } from "@temporalio/workflow";

import {
  type BatchDecision,
  type BatchProgress,
  type BatchReference,
  type ClaimedTry,
  type KnownBatch,
  notDoneOutcome,
  type PreparedSyncBatch,
  type ProcessBatchResult,
  type ProcessSyncBatchInput,
  type SyncBatchOutcome,
  type UnknownOutcome,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { answerOf, BetweenTries, ClaimGenerations } from "../calls/between-tries.ts";
import { Job, registerJobMessages, runJobToCompletion } from "../job/job.ts";
import { park } from "../operator/attention-list.ts";
import { COMMON_UPDATES, quoted, type Update, type UpdateTable } from "../operator/updates.ts";
import { type AccountingCalls, accountingCallsOf, ledger, main } from "../proxies.ts";

type Batch = Omit<BatchReference, "generation">;
type Known = Exclude<KnownBatch, UnknownOutcome>;

/** Has one sync batch processed, at most once (docs/architecture.md, "At most once"), however often it is started. */
export async function processSyncBatch(input: ProcessSyncBatchInput): Promise<SyncBatchOutcome> {
  const job = new BatchJob(String(input?.syncBatchId));
  registerJobMessages(job, BATCH_UPDATES);
  return await runJobToCompletion(async () => {
    const prepared = await main.prepareSyncBatch("Check the request and find the connection", { input });
    const outcome = await sendUntilProcessed(job, prepared);
    job.moveOn("nothing", { standing: "processed", message: outcome.message });
    return outcome;
  });
}

async function sendUntilProcessed(
  job: BatchJob,
  { profile, syncBatchId }: PreparedSyncBatch,
): Promise<SyncBatchOutcome> {
  const calls = accountingCallsOf(job, profile);
  const batch = { connection: profile.connection, syncBatchId };
  const claims = new ClaimGenerations();
  const betweenTries = new BetweenTries(job);
  for (;;) {
    job.moveOn("the service's answer", { standing: "waiting" });
    const { current } = claims;
    const sinceMs = Date.now();
    const sent = await sendBatch(calls, batch, current, sinceMs);
    const claim = { ...batch, generation: current.generation, sinceMs };
    const result = sent.kind === "unknown" ? await resolveUnknown(job, claim, sent) : sent;
    if (result.kind !== "not-processed" && result.kind !== "deferred") betweenTries.clearRefusal();
    switch (result.kind) {
      case "processed":
        return { syncBatchId, saidBy: "service", message: result.message };
      case "decided-processed":
        return { syncBatchId, saidBy: "person", message: result.decision.note };
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
        claims.putOff(result);
        break;
    }
  }
}

/** Not ended by a cancellation: nobody would know what became of it. */
function sendBatch(
  { unrepeatableWrite }: AccountingCalls,
  batch: Batch,
  one: ClaimedTry,
  sinceMs: number,
): Promise<ProcessBatchResult> {
  const { generation } = one;
  return CancellationScope.nonCancellable(async () => {
    const sent = await unrepeatableWrite.processSyncBatch("Have the batch processed", { ...batch, ...one });
    const result = await answerOf(sent, () =>
      ledger.readBatch("Read what became of it from its claim", { ...batch, generation, sinceMs }),
    );
    if (!("unsettled" in result)) return result;
    const outcome =
      result.kind === "processed"
        ? { kind: result.kind, message: result.message }
        : notDoneOutcome("not-processed", result);
    await ledger.settleBatch("Write the outcome into the claim", { ...batch, ...one, outcome });
    return result;
  });
}

/** An attempt that was given up may still write its outcome: the claim is looked at so often. */
const LOOKS = ["1 minute", "10 minutes", "1 hour"] as const;

async function resolveUnknown(
  job: BatchJob,
  asked: BatchReference,
  { generation = asked.generation, message, evidence }: UnknownOutcome,
): Promise<Known> {
  const claim = { ...asked, generation };
  let found: Known | undefined;
  const lookAgain = async (): Promise<boolean> => {
    for (const pause of LOOKS) {
      await sleep(pause, { summary: "The outcome may still be written into the claim: look again later" });
      const read = await ledger.readBatch("Look for a late outcome in the claim", claim);
      if (read.kind === "unknown") continue;
      found = read;
      return true;
    }
    return await CancellationScope.current().cancelRequested;
  };
  job.moveOn("an operator, who can see whether the batch was processed", { standing: "parked", message });
  const attention = { code: "batch-unknown" as const, message, evidence };
  for (;;) {
    await park(job, attention, { wake: lookAgain, until: () => job.decision !== undefined });
    const { decision } = job;
    job.decision = undefined;
    if (found) return found;
    if (!decision) continue;
    const decided = { ...claim, decision };
    const kept = await ledger.decideBatch("Write the operator's decision into the claim", decided);
    if (kept.kind !== "unknown") return kept;
    // Of another run's newer try the decision says nothing.
    return await resolveUnknown(job, claim, kept);
  }
}

export class BatchJob extends Job<BatchProgress> {
  decision: BatchDecision | undefined;

  constructor(syncBatchId: string) {
    const progress: BatchProgress = { syncBatchId, standing: "waiting" };
    super({ workflow: WORKFLOW_TYPES.processSyncBatch, noun: "The batch", progress, describe });
  }
}

const resolveBatch: Update<BatchJob, "resolveBatch"> = {
  name: "resolveBatch",
  refusedBecause: (job) => (job.needs("batch-unknown") && !job.decision ? undefined : "The batch is not unknown."),
  act(job, { processed, note, by }) {
    const atMs = Date.now();
    job.decision = { processed, note, by, atMs };
    const answer = processed ? "processed" : "not processed";
    job.decide({ update: "resolveBatch", code: "batch-unknown", answer, note, by }, atMs);
  },
  done: "Recorded.",
};

export const BATCH_UPDATES: UpdateTable<BatchJob> = [...COMMON_UPDATES, resolveBatch];

function describe({ syncBatchId, standing, message }: BatchProgress): string[] {
  const id = `Sync batch ${quoted(syncBatchId)} is ${standing}`;
  return message === undefined ? [id] : [id, quoted(message)];
}
