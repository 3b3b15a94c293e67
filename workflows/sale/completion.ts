import { ApplicationFailure, CancellationScope, condition } from "@temporalio/workflow";

import { FAILURES, type OutcomeRequest, type SaleOutcome } from "../../src/contract/index.ts";
import { checkedObject, notAllowed } from "../operator/updates.ts";
import { asFailure, isFinal } from "../sdk/failures.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";
import type { SaleState } from "./state.ts";
import { outcomeOf } from "./view.ts";

/**
 * Runs the main flow of a sale or a credit note, and closes the workflow once nothing is left to do. A cancellation
 * from Temporal becomes the run's own request to cancel, which the flow carries out when it can. If the flow fails,
 * everybody who waits for the outcome gets the failure first, and then the workflow fails with it.
 */
export async function runToCompletion(run: SaleState, body: () => Promise<void>): Promise<SaleOutcome> {
  CancellationScope.current().cancelRequested.catch(() => run.requestCancel("cancelled through Temporal"));
  return await CancellationScope.nonCancellable(async () => {
    try {
      await body();
    } catch (error) {
      if (!(error instanceof Error) || !isFinal(error)) throw error;
      run.failure = asFailure(error);
    }
    await run.everythingFinished();
    await condition(everyUpdateIsAnswered);
    if (run.failure) throw run.failure;
    return outcomeOf(run);
  });
}

const DEFAULT_WAIT_SECONDS = 20;
const LONGEST_WAIT_SECONDS = 60;
/**
 * How often the outcome can be asked for. Each update makes the history longer, and Temporal takes 2,000 updates per
 * run: most are left for the operator.
 */
const MOST_OUTCOMES = 200;

/**
 * The handler of the update `outcome`: the outcome once the run is settled or parked, else the stage reached when the
 * wait is over. The wait is short, since Temporal admits ten updates at a time.
 */
export function waitForOutcome(run: SaleState, request: OutcomeRequest = {}): Promise<SaleOutcome> {
  return CancellationScope.nonCancellable(async () => {
    await condition(() => run.prepared || run.failure !== undefined);
    if (run.failure) throw run.failure;
    if (request.fingerprint !== undefined && request.fingerprint !== run.fingerprint) {
      const message = `The number ${run.invoice} belongs to a document with other content. Fingerprint asked for: ${request.fingerprint}; of this document: ${run.fingerprint ?? "none"}.`;
      throw ApplicationFailure.nonRetryable(message, FAILURES.conflict);
    }
    const waitMs = (request.waitSeconds ?? DEFAULT_WAIT_SECONDS) * 1000;
    const outcomeKnown = (): boolean => run.settled || run.heldUp || run.failure !== undefined;
    if (!outcomeKnown() && waitMs > 0) await condition(outcomeKnown, waitMs);
    run.outcomesGiven++;
    if (run.failure) throw run.failure;
    return outcomeOf(run);
  });
}

export function checkOutcomeRequest(run: SaleState, message: unknown): void {
  if (run.outcomesGiven >= MOST_OUTCOMES) {
    notAllowed(run, "The outcome was asked for so often that only the state query still answers.");
  }
  const { waitSeconds, fingerprint } = checkedObject(run, message, ["waitSeconds", "fingerprint"]);
  const bounded = typeof waitSeconds === "number" && waitSeconds >= 0 && waitSeconds <= LONGEST_WAIT_SECONDS;
  if (waitSeconds !== undefined && !bounded) {
    notAllowed(run, `Expected waitSeconds from 0 to ${LONGEST_WAIT_SECONDS}.`);
  }
  if (fingerprint !== undefined && typeof fingerprint !== "string") notAllowed(run, "Expected fingerprint as a text.");
}
