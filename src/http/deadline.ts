export interface DeadlineClocks {
  /** Milliseconds since any moment; never set back. */
  monotonicMs: () => number;
  /** Unix milliseconds. */
  wallMs: () => number;
}

const CLOCKS: DeadlineClocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/**
 * The moment by which something must have happened in this process, also if the process stands still meanwhile (a
 * stopped container, a suspended host). Both clocks are read, and the one that has gone further counts: the monotonic
 * clock is never set back, but does not run on every host while it is suspended; the wall clock is then put right.
 */
export class Deadline {
  readonly #clocks: DeadlineClocks;
  readonly #lengthMs: number;
  readonly #monotonicMs: number;
  readonly #wallMs: number;

  constructor(lengthMs: number, clocks: DeadlineClocks = CLOCKS) {
    this.#clocks = clocks;
    this.#lengthMs = lengthMs;
    this.#monotonicMs = clocks.monotonicMs();
    this.#wallMs = clocks.wallMs();
  }

  /** Milliseconds; zero or less once it is past. */
  get leftMs(): number {
    const { monotonicMs, wallMs } = this.#clocks;
    return this.#lengthMs - Math.max(monotonicMs() - this.#monotonicMs, wallMs() - this.#wallMs);
  }

  get isPast(): boolean {
    return this.leftMs <= 0;
  }
}

/**
 * When a pause ends that is never longer than so much. One that seems longer began before the wall clock was set back,
 * and counts as over.
 */
export function endOfPauseMs(atMs: number, nowMs: number, longestMs: number): number {
  return atMs - nowMs > longestMs ? nowMs : atMs;
}

/** Asks once for all who want to know within the time that an answer lasts. */
export function rememberAnswer<Answer>(ask: () => Answer, lastsMs: number, clock: () => number): () => Answer {
  let last: { answer: Answer; untilMs: number } | undefined;
  return () => {
    const nowMs = clock();
    if (last === undefined || nowMs >= endOfPauseMs(last.untilMs, nowMs, lastsMs))
      last = { answer: ask(), untilMs: nowMs + lastsMs };
    return last.answer;
  };
}
