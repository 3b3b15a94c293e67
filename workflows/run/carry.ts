import { ApplicationFailure, CancellationScope, condition, setHandler } from "@temporalio/workflow";

import type { SaleOutcome } from "../../src/contract/index.ts";
import { rootMessage } from "./answered.ts";
import { callbackReceived, outcomeUpdate, stateQuery } from "./message-definitions.ts";
import { wireOperatorUpdates } from "./operator-updates.ts";
import { checkOutcomeRequest, outcomeOf, stateOf, waitForOutcome } from "./outcome.ts";
import type { Run } from "./run.ts";
import { everyUpdateIsAnswered } from "./updates-come-last.ts";

/** The messages that a sale and a credit note share. To be called before the first await: an early message finds its handler. */
export function wireMessages(run: Run): void {
  setHandler(stateQuery, () => stateOf(run), { description: "Everything that is known of this document." });
  setHandler(callbackReceived, (message) => {
    run.callbacksReceived++;
    run.lastCallbackEvent = typeof message?.event === "string" ? message.event.slice(0, 64) : undefined;
  });
  setHandler(outcomeUpdate, (request) => waitForOutcome(run, request ?? {}), {
    description: 'The outcome, waited for a while. Takes {} or {"waitSeconds": 20}.',
    validator: (message?) => checkOutcomeRequest(run, message),
  });
  wireOperatorUpdates(run);
}

/**
 * Carries a run's body to its end: Temporal's own cancellation becomes the run's, which the body answers in its own time
 * (undo included); whoever waits is served; and a failure is told to them before the workflow fails with it.
 */
export async function carry(run: Run, body: () => Promise<void>): Promise<SaleOutcome> {
  CancellationScope.current().cancelRequested.catch(() => run.requestCancel("cancelled through Temporal"));
  return await CancellationScope.nonCancellable(async () => {
    try {
      await body();
    } catch (error) {
      if (!(error instanceof Error) || !isFinal(error)) throw error;
      run.failure = asFailure(error);
    }
    await run.nothingUnfinished();
    await condition(everyUpdateIsAnswered);
    if (run.failure) throw run.failure;
    return outcomeOf(run);
  });
}

/** Anything else is a defect: it fails the workflow task, which is repeated once the code is mended, and loses nothing. */
export function isFinal(error: Error): boolean {
  return error.name === "ApplicationFailure" || error.name === "ActivityFailure";
}

export function asFailure(error: Error): ApplicationFailure {
  const cause = error.cause instanceof ApplicationFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) return ApplicationFailure.nonRetryable(cause.message, cause.type);
  return ApplicationFailure.nonRetryable(rootMessage(error));
}
