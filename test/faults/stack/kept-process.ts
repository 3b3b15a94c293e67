import { setTimeout as delay } from "node:timers/promises";

import type { ProductProcess } from "./product-process.ts";

export interface KeptProcessOptions {
  readonly spawn: () => ProductProcess;
  /** Resolves once there is a Temporal server: without one a new process ends at once. */
  readonly serverUp: () => Promise<void>;
  /** How often it was killed: a process that has just started ends when it cannot reach it, and says so. */
  readonly serverKills: () => number;
  /** A process ended that nobody had sent a signal, and that missed no server at its start; with what it said last. */
  readonly onEndedByItself: (lastWords: string) => void;
}

/** A process that is kept running: one that ends, however it ends, is replaced. */
export class KeptProcess {
  readonly #options: KeptProcessOptions;
  #process: ProductProcess | undefined;
  #serving = false;
  #closed = false;
  readonly #occupied: Promise<void>;

  constructor(options: KeptProcessOptions) {
    this.#options = options;
    this.#occupied = this.#occupy();
  }

  get serving(): boolean {
    return this.#serving;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** As a power cut would. */
  kill(): void {
    this.#serving = false;
    this.#process?.signal("SIGKILL");
  }

  /** Once the process that is there now has ended. */
  get gone(): Promise<unknown> {
    return this.#process?.ended ?? Promise.resolve();
  }

  /** Lets it stand still for so long (milliseconds); resolves once it goes on, or is gone. */
  async freeze(forMs: number, signal: AbortSignal): Promise<void> {
    const process = this.#process;
    if (!process || !this.#serving) return;
    this.#serving = false;
    process.freeze();
    const waited = new AbortController();
    const timeUp = delay(forMs, undefined, { signal: AbortSignal.any([signal, waited.signal]) }).catch(() => undefined);
    await Promise.race([timeUp, process.ended]);
    waited.abort();
    process.thaw();
    if (this.#process === process && process.signalled === undefined) this.#serving = true;
  }

  /** Asks it to stop; resolves with its exit code once it has. */
  async terminate(): Promise<number | null> {
    this.#serving = false;
    const process = this.#process;
    process?.signal("SIGTERM");
    return (await process?.ended) ?? null;
  }

  /** For good. */
  async close(signal: NodeJS.Signals): Promise<void> {
    this.#closed = true;
    this.#process?.signal(signal);
    await this.#occupied;
  }

  async #occupy(): Promise<void> {
    while (!this.#closed) {
      await this.#options.serverUp();
      if (this.#closed) return;
      const killsBefore = this.#options.serverKills();
      const process = this.#options.spawn();
      this.#process = process;
      const ready = await process.ready;
      if (ready) this.#serving = process.signalled === undefined;
      await process.ended;
      this.#serving = false;
      const missedServer = !ready && this.#options.serverKills() > killsBefore;
      if (process.signalled === undefined && !missedServer && !this.#closed) {
        this.#options.onEndedByItself(process.lastWords);
      }
    }
  }
}
