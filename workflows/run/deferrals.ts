import { condition } from "@temporalio/workflow";

import type { Attended } from "./attended.ts";
import { growingPauseMs } from "./growing-pause.ts";
import { untilDone } from "./until-done.ts";

/** So many pauses are timers of the workflow, from a second to a quarter of an hour; the later ones cost no history. */
const MOST_TIMERS = 10;

/** The pauses of one call that was put off: refused by the quota, or not sent at all. */
export class Deferrals {
  readonly #run: Attended;
  #times = 0;
  #growing = 0;
  #sinceMs = 0;

  constructor(run: Attended) {
    this.#run = run;
  }

  /** @param retryAfterMs as the service says; else growing */
  async pause(retryAfterMs: number | undefined, until: () => boolean): Promise<void> {
    const { awaitService } = this.#run;
    if (this.#times++ === 0) this.#sinceMs = Date.now();
    if (this.#times > MOST_TIMERS && awaitService) {
      await untilDone(() => awaitService({ triedAtMs: Date.now(), sinceMs: this.#sinceMs }), until);
    } else await condition(until, retryAfterMs ?? growingPauseMs(this.#growing++));
  }
}
