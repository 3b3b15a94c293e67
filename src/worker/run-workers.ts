import type { Worker } from "@temporalio/worker";

/** Runs workers together until they are shut down. One that fails takes the others down with it, gracefully. */
export class RunningWorkers {
  readonly #workers: readonly Worker[];
  readonly #ended: Promise<void>;

  constructor(workers: readonly Worker[]) {
    this.#workers = workers;
    const runs = workers.map((worker) =>
      worker.run().catch((error: unknown) => {
        this.#shutdownAll();
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

  /** Stops polling, and waits for calls in flight to be answered. */
  async drain(): Promise<void> {
    this.#shutdownAll();
    await this.#ended;
  }

  #shutdownAll(): void {
    for (const worker of this.#workers) if (worker.getState() === "RUNNING") worker.shutdown();
  }
}
