/** Over fewer seconds it is a hiccup that many callers meet at once. */
export const PASSING_MS = 5_000;

/**
 * Counts answers in a row that could not be read, by what was asked for. Answers, and not attempts: one that was put
 * off, lost its connection or was lost with its worker says nothing of what the service would answer. Each process
 * counts its own.
 */
export class UnreadAnswers {
  readonly #nowMs: () => number;
  readonly #most: number;
  /** How many, and since when (Unix milliseconds). */
  readonly #inARow = new Map<string, { count: number; sinceMs: number }>();

  /** @param most so many in a row, over some seconds, are no passing trouble */
  constructor(nowMs: () => number, most: number) {
    this.#nowMs = nowMs;
    this.#most = most;
  }

  /** One more: whether they are no passing trouble by now. */
  persist(askedFor: string): boolean {
    const nowMs = this.#nowMs();
    const { count, sinceMs } = this.#inARow.get(askedFor) ?? { count: 0, sinceMs: nowMs };
    this.#inARow.set(askedFor, { count: count + 1, sinceMs });
    return count + 1 >= this.#most && nowMs - sinceMs >= PASSING_MS;
  }

  /** There is an answer, or nothing waits for one any more. */
  end(askedFor: string): void {
    this.#inARow.delete(askedFor);
  }
}
