import { seededRandom } from "../../../src/dev/simulator/seeded-random.ts";

/** Draws for a plan: the same seed and purpose give the same ones. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number, purpose: string) {
    const salt = Buffer.from(purpose).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
    this.#next = seededRandom((seed ^ salt) >>> 0);
  }

  /** From `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  happens(probability: number): boolean {
    return this.#next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#next() * choices.length)];
    if (choice === undefined) throw new RangeError("there is nothing to choose from");
    return choice;
  }

  shuffled<T>(entries: readonly T[]): T[] {
    return entries
      .map((entry) => ({ entry, at: this.#next() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ entry }) => entry);
  }
}
