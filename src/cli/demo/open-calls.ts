import { setTimeout as delay } from "node:timers/promises";

/**
 * Calls of Temporal's client that are under way. Its SDK repeats a failed call from a timer, and where the connection was closed
 * meanwhile, that throws where nobody can catch it: so a connection is closed only when no call is left.
 */
export class OpenCalls {
  readonly #open = new Set<Promise<unknown>>();

  track<Result>(call: Promise<Result>): Promise<Result> {
    const settled = call.then(
      () => undefined,
      () => undefined,
    );
    this.#open.add(settled);
    void settled.then(() => this.#open.delete(settled));
    return call;
  }

  /** Whether all have ended within the time. */
  async ended(withinMs: number): Promise<boolean> {
    const timer = new AbortController();
    const tooLate = delay(withinMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#open), tooLate]);
    timer.abort();
    return this.#open.size === 0;
  }
}
