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

interface Waiter {
  check: () => boolean;
  resolve: () => void;
}

/** Tells those who wait that the simulator's state changed, so that a test needs no sleep. */
export class Changes {
  #waiters: Waiter[] = [];

  announce(): void {
    if (this.#waiters.length === 0) return;
    const ready = this.#waiters.filter((waiter) => waiter.check());
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const waiter of ready) waiter.resolve();
  }

  /** Resolves as soon as `check` is true; it is asked now and after each change. */
  async until(check: () => boolean): Promise<void> {
    if (check()) return;
    await new Promise<void>((resolve) => {
      this.#waiters.push({ check, resolve });
    });
  }
}
