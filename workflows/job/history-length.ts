import { workflowInfo } from "@temporalio/workflow";

import { stepsTaken } from "../run/steps.ts";
import { updatesComeLast } from "../run/updates-come-last.ts";

/** Past so many steps a run goes on as a new one, between two pages. */
const MOST_STEPS = 20;

/** Past so many it does so in the middle of one, where a call that was refused is about to be made anew. A page without that has 50 at most. */
const MOST_STEPS_OF_REFUSED = 200;

/** Of runs of up to release 0.4. */
const MOST_EVENTS = 1_000;

/**
 * Whether it is time to go on in a new run. Counted in steps, and not in events: the length of a history grows with what a replay is not
 * shown, a message that is refused (docs/decisions/0018).
 */
export class HistoryLength {
  /** To be known from the first event on: a run keeps the rule that it began with. */
  readonly #inSteps = updatesComeLast();

  get isLong(): boolean {
    return this.#inSteps ? stepsTaken() >= MOST_STEPS : isLongInEvents();
  }

  /** Where a wait is over. */
  get isLongOfRefused(): boolean {
    return this.#inSteps && stepsTaken() >= MOST_STEPS_OF_REFUSED;
  }

  /** In the middle of a wait. */
  get isLongAsBefore(): boolean {
    return !this.#inSteps && isLongInEvents();
  }
}

function isLongInEvents(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= MOST_EVENTS || continueAsNewSuggested;
}
