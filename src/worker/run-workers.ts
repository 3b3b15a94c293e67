import type { Worker } from "@temporalio/worker";

/** What ends before the workers do. */
export interface Ends {
  /** Ends each activity that waits for something to happen. */
  endWaits: () => void;
  /** Resolves when no poll is open whose task a shutdown would lose. */
  endPolls: () => Promise<void>;
}

const NOTHING_ENDS_BEFORE: Ends = { endWaits: () => undefined, endPolls: () => Promise.resolve() };

/** Runs workers together until they are shut down. One that fails takes the others down with it, gracefully. */
export class RunningWorkers {
  readonly #workers: readonly Worker[];
  readonly #ends: Ends;
  readonly #ended: Promise<void>;
  #draining: Promise<void> | undefined;

  constructor(workers: readonly Worker[], ends: Ends = NOTHING_ENDS_BEFORE) {
    this.#workers = workers;
    this.#ends = ends;
    const runs = workers.map((worker) =>
      worker.run().catch((error: unknown) => {
        void this.#endPollsThenShutdown();
        throw error;
      }),
    );
    this.#ended = Promise.allSettled(runs).then((results) => {
      for (const result of results) if (result.status === "rejected") throw result.reason;
    });
    // Whoever waits for the end hears of a failure; nobody has to.
    this.#ended.catch(() => undefined);
  }

  get states(): string[] {
    return this.#workers.map((worker) => worker.getState());
  }

  /** Rejects with the first failure. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /**
   * Takes no new work without losing any that is being handed out, and waits for calls in flight to be answered. Until
   * the last poll has ended the workflows go on: what the calls answered is taken in, and what they ask for next waits
   * on the server.
   */
  async drain(): Promise<void> {
    await this.#endPollsThenShutdown();
    await this.#ended;
  }

  /** As {@link drain}, but at once: for the case that no task can be lost, or that it does not matter. */
  async stop(): Promise<void> {
    this.#ends.endWaits();
    this.#shutdownAll();
    await this.#ended;
  }

  #endPollsThenShutdown(): Promise<void> {
    this.#ends.endWaits();
    this.#draining ??= this.#ends.endPolls().finally(() => this.#shutdownAll());
    return this.#draining;
  }

  #shutdownAll(): void {
    for (const worker of this.#workers) if (worker.getState() === "RUNNING") worker.shutdown();
  }
}
