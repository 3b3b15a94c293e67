import { stepsTaken } from "../sdk/interceptors.ts";

/** From so many steps on, a job continues as new between two pages. */
const STEPS_BETWEEN_PAGES = 20;

/** From so many on it does so within a page, where a refused call is about to be made again. Other pages take 50. */
const STEPS_WITHIN_A_PAGE = 200;

/**
 * When a job continues as new (Temporal's Continue-As-New). It counts steps and not the events of the history, whose
 * length also counts refused updates, which a replay does not see (decision 15).
 */
export class ContinueAsNewPolicy {
  /** Whether the next run can take over the calls that this one is still trying. Set by the job, step by step. */
  handsOverCalls = false;
  #waitsEnded = false;

  /** To be asked between two pages. */
  get dueBetweenPages(): boolean {
    return stepsTaken() >= STEPS_BETWEEN_PAGES;
  }

  /** Whether all waits between two tries are over, since the run continues as new. */
  get waitsEnded(): boolean {
    return this.#waitsEnded;
  }

  /** To be called before a call is made again. True: its try is left to the next run, and all other waits end too. */
  endWaitsIfDue(): boolean {
    this.#waitsEnded ||= this.handsOverCalls && stepsTaken() >= STEPS_WITHIN_A_PAGE;
    return this.#waitsEnded;
  }
}

/** Thrown in place of another try: the run that continues this one makes the call. */
export class LeftToNextRun extends Error {
  override readonly name = "LeftToNextRun";
}

/** For `catch`: undefined for a call that is left to the next run. @throws every other error */
export function undefinedIfLeft(error: unknown): undefined {
  if (!(error instanceof LeftToNextRun)) throw error;
}
