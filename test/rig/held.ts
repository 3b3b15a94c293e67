/** A call of the ledger that waits for its release. */
export class Held {
  readonly #released: Promise<void>;
  release = (): void => {};
  calls = 0;
  answers = 0;

  constructor() {
    this.#released = new Promise((resolve) => (this.release = resolve));
  }

  async pass<T>(call: () => Promise<T>): Promise<T> {
    this.calls++;
    await this.#released;
    const answer = await call();
    this.answers++;
    return answer;
  }
}
