/** Lets so many act at once. The others wait, and follow in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async take<T>(act: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      // The turn goes from hand to hand: whoever asks meanwhile is behind those that wait.
      if (next) next();
      else this.#free += 1;
    }
  }
}
