/** Counts what is done at the same time, and does no more than so much. */
export class InFlight {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Undefined: as many as may be are under way. */
  async run<T>(act: () => Promise<T>): Promise<T | undefined> {
    if (this.#count >= this.#most) return undefined;
    this.#count += 1;
    try {
      return await act();
    } finally {
      this.#count -= 1;
    }
  }
}
