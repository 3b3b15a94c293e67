/** Over fewer seconds it is a hiccup that many callers meet at once. */
export const PASSING_MS = 5_000;

/**
 * After so long without another one, those before were somebody else's: another process had the answer, or the job was
 * cancelled. Far longer than the pauses between two tries, also where many workers share them.
 */
const FORGOTTEN_AFTER_MS = 30 * 60_000;

/**
 * Counts answers in a row that could not be read, by what was asked for. Answers, and not attempts: one that was put
 * off, lost its connection or was lost with its worker says nothing of what the service would answer. Each process
 * counts its own.
 */
export class UnreadAnswers {
  readonly #nowMs: () => number;
  readonly #most: number;
  /** How many, since when, and when the last one came (Unix milliseconds). */
  readonly #inARow = new Map<string, { count: number; sinceMs: number; lastMs: number }>();

  /** @param most so many in a row, over some seconds, are no passing trouble */
  constructor(nowMs: () => number, most: number) {
    this.#nowMs = nowMs;
    this.#most = most;
  }

  /** One more: whether they are no passing trouble by now. */
  persist(askedFor: string): boolean {
    const nowMs = this.#nowMs();
    for (const [one, { lastMs }] of this.#inARow) if (nowMs - lastMs > FORGOTTEN_AFTER_MS) this.#inARow.delete(one);
    const { count, sinceMs } = this.#inARow.get(askedFor) ?? { count: 0, sinceMs: nowMs };
    this.#inARow.set(askedFor, { count: count + 1, sinceMs, lastMs: nowMs });
    return count + 1 >= this.#most && nowMs - sinceMs >= PASSING_MS;
  }

  /** There is an answer, or nothing waits for one any more. */
  end(askedFor: string): void {
    this.#inARow.delete(askedFor);
  }
}
