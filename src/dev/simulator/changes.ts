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
