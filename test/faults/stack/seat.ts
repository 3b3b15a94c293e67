import type { ProductProcess } from "./product-process.ts";

export interface SeatOptions {
  readonly spawn: () => ProductProcess;
  /** Resolves once there is a Temporal server: without one a new process ends at once. */
  readonly serverUp: () => Promise<void>;
  /** A process ended that served and that nobody had sent a signal. One that finds no server when it starts ends by design. */
  readonly onEndedByItself: () => void;
}

/** A place that is always taken by a process: one that ends, however it ends, is replaced. */
export class Seat {
  readonly #options: SeatOptions;
  #process: ProductProcess | undefined;
  #serving = false;
  #closed = false;
  readonly #occupied: Promise<void>;

  constructor(options: SeatOptions) {
    this.#options = options;
    this.#occupied = this.#occupy();
  }

  get serving(): boolean {
    return this.#serving;
  }

  /** As a power cut would. */
  kill(): void {
    this.#serving = false;
    this.#process?.signal("SIGKILL");
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
      const process = this.#options.spawn();
      this.#process = process;
      const served = await process.ready;
      if (served) this.#serving = process.signalled === undefined;
      await process.ended;
      this.#serving = false;
      if (served && process.signalled === undefined && !this.#closed) this.#options.onEndedByItself();
    }
  }
}
