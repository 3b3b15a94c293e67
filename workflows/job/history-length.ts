import { stepsTaken } from "../run/steps.ts";

/** Past so many steps a run goes on as a new one, between two pages. */
const MOST_STEPS = 20;

/** Past so many it does so in the middle of one, where a call that was refused is about to be made anew. A page without that has 50 at most. */
const MOST_STEPS_OF_REFUSED = 200;

/**
 * Whether it is time to go on in a new run. Counted in steps, and not in events: the length of a history grows with what a replay is not
 * shown, a message that is refused (decision 15).
 */
export class HistoryLength {
  get isLong(): boolean {
    return stepsTaken() >= MOST_STEPS;
  }

  /** Where a wait is over. */
  get isLongOfRefused(): boolean {
    return stepsTaken() >= MOST_STEPS_OF_REFUSED;
  }
}
