/** Measures how long each phase of the start takes, so that a slow one can be named. */
export class PhaseClock {
  readonly #nowMs: () => number;
  readonly #startedAtMs: number;
  #lastAtMs: number;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
    this.#startedAtMs = nowMs();
    this.#lastAtMs = this.#startedAtMs;
  }

  /** What has come about, and how long it took since the last: "Temporal is ready (0.9 s)". */
  lap(what: string): string {
    const nowMs = this.#nowMs();
    const seconds = (nowMs - this.#lastAtMs) / 1_000;
    this.#lastAtMs = nowMs;
    return `${what} (${seconds.toFixed(1)} s)`;
  }

  get totalSeconds(): string {
    return ((this.#nowMs() - this.#startedAtMs) / 1_000).toFixed(1);
  }
}
