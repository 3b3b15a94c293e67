import type { Deferred } from "../../src/contract/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { type EarlierRuns, EarlierRunsUnreadError } from "./earlier-runs.ts";

/**
 * Brings into the ledger what earlier runs of a workflow id did, then takes a claim without which nothing is sent.
 * @returns what `claim` gives; `deferred` where it cannot be had now
 */
export async function claimAfterEarlierRuns<Claimed>(
  earlierRuns: Pick<EarlierRuns, "takeOver">,
  execution: Parameters<EarlierRuns["takeOver"]>[0],
  claim: () => Promise<Claimed>,
): Promise<Claimed | Deferred> {
  try {
    await earlierRuns.takeOver(execution);
    return await claim();
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return { kind: "deferred", waitFor: "ledger", message: error.message };
    if (error instanceof EarlierRunsUnreadError) return { kind: "deferred", message: error.message };
    throw error;
  }
}
