import { CancellationScope, sleep } from "@temporalio/workflow";

import type { AccountingProfile, KnownBatch, UnknownOutcome } from "../../src/contract/index.ts";
import { park } from "../operator/attention-list.ts";
import { ledger } from "../proxies.ts";
import type { BatchJob } from "./batch-job.ts";

/**
 * An attempt that was given up may still write its outcome down: the claim is looked at so often, then an operator
 * alone decides.
 */
const LOOKS = ["1 minute", "10 minutes", "1 hour"] as const;

type Known = Exclude<KnownBatch, UnknownOutcome>;

/** Parks until an operator says whether it was processed, or the claim does. */
export async function resolveUnknownBatch(
  job: BatchJob,
  { connection }: Pick<AccountingProfile, "connection">,
  syncBatchId: string,
  { generation, message, evidence }: UnknownOutcome & { generation: number },
): Promise<Known> {
  const batch = { connection, syncBatchId, generation };
  let found: Known | undefined;
  const lookAgain = async (): Promise<boolean> => {
    for (const pause of LOOKS) {
      await sleep(pause, { summary: "The outcome may still be written into the claim: look again later" });
      const read = await ledger.readBatch("Look for a late outcome in the claim", batch);
      if (read.kind === "unknown") continue;
      found = read;
      return true;
    }
    return await CancellationScope.current().cancelRequested;
  };
  job.moveOn("an operator, who can see whether the batch was processed", { standing: "parked", message });
  const attention = { code: "batch-unknown" as const, message, evidence };
  for (;;) {
    await park(job, attention, { wake: lookAgain, until: () => job.word !== undefined });
    const { word } = job;
    job.word = undefined;
    if (found) return found;
    if (!word) continue;
    const { processed, ...decision } = word;
    const kept = await ledger.decideBatch("Write the operator's decision into the claim", {
      ...batch,
      processed,
      word: decision,
    });
    if (kept.kind !== "unknown") return kept;
    // Of another run's newer try the word says nothing.
    return await resolveUnknownBatch(job, { connection }, syncBatchId, { generation, ...kept });
  }
}
