import { TransportError } from "../http/errors.ts";

/** Who waits for an instant, or for any change before it. */
export class Turns {
  readonly #nowMs: () => number;
  readonly #listeners = new Set<() => void>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Everybody who waits looks again. */
  changed(): void {
    // Of those who wait now: one that looks and waits again comes into the same set.
    const waiting = [...this.#listeners];
    for (const listener of waiting) listener();
  }

  /**
   * Calls `listener` once: at the next change, and no later than at the instant. It keeps no process alive.
   * @returns ends the wait
   */
  wait(untilMs: number | undefined, listener: () => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(timer);
      this.#listeners.delete(now);
    };
    const now = (): void => {
      end();
      listener();
    };
    this.#listeners.add(now);
    if (untilMs !== undefined) timer = setTimeout(now, Math.max(1, Math.ceil(untilMs - this.#nowMs()))).unref();
    return end;
  }

  /** Resolves at the next change, and no later than at the instant. @throws TransportError `aborted` */
  next(untilMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        end();
        reject(
          new TransportError("given up by the caller before it was sent", {
            code: "aborted",
            sent: "no",
            cause: signal?.reason,
          }),
        );
      };
      const end = this.wait(untilMs, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}
