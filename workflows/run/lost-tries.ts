import { sleep } from "@temporalio/workflow";

import { type Attended, attentionKey } from "./attended.ts";
import { growingPauseMs } from "./growing-pause.ts";
import { park } from "./park.ts";

/** So many tries are made by themselves, within a quarter of an hour; then a person is shown that it does not get through. */
const MOST_TRIES = 10;

/**
 * The tries of one write whose answer is lost again and again, although each look shows that nothing came of it. It goes on by itself, ever
 * more rarely, and a person can end that.
 */
export class LostTries {
  readonly #run: Attended;
  readonly #subject: string;
  #tries = 0;
  #sinceMs: number | undefined;

  constructor(run: Attended, subject: string) {
    this.#run = run;
    this.#subject = subject;
  }

  /** The pause before another try. @param pause how a short one is made */
  async pause(what: string, pause: (ms: number) => Promise<unknown> = sleep): Promise<void> {
    const run = this.#run;
    const { awaitService } = run;
    if (this.#tries < MOST_TRIES || !awaitService) {
      await pause(growingPauseMs(this.#tries++));
      return;
    }
    const nowMs = Date.now();
    const sinceMs = (this.#sinceMs ??= nowMs);
    const wake = (): Promise<boolean> => awaitService({ triedAtMs: nowMs, sinceMs }).then(() => true);
    const message = `${what} was tried ${MOST_TRIES} times and more, and nothing came of it. It is still tried, ever more rarely.`;
    const mendedBy = ["retry", "cancel"] as const;
    const attention = { code: "unexpected-answer", subject: this.#subject, message, sinceMs, mendedBy } as const;
    await park(run, attention, { wake, lasts: true, until: () => run.cutShort });
  }

  /** It got through, or ends otherwise. */
  over(): void {
    if (this.#sinceMs !== undefined) this.#run.clear(attentionKey("unexpected-answer", this.#subject));
  }
}
