/** Everything the simulator does later, so that closing it leaves nothing behind. */
export class Timers {
  readonly #pending = new Set<NodeJS.Timeout>();
  #closed = false;

  /** Returns a function that takes the appointment back. */
  after(delayMs: number, run: () => void): () => void {
    if (this.#closed) return () => undefined;
    const timer = setTimeout(() => {
      this.#pending.delete(timer);
      run();
    }, delayMs);
    this.#pending.add(timer);
    return () => {
      clearTimeout(timer);
      this.#pending.delete(timer);
    };
  }

  /**
   * Resolves after the delay, and never once the timers are closed: what waited on it must not go on in a closed
   * simulator.
   */
  async delay(delayMs: number): Promise<void> {
    if (delayMs <= 0) return;
    await new Promise<void>((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#pending) clearTimeout(timer);
    this.#pending.clear();
  }
}
