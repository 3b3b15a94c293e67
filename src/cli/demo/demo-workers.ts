import { createWorkers, type ServingWorkers, type WorkersOptions } from "../../worker/create-workers.ts";
import { RunningWorkers } from "../../worker/run-workers.ts";
import { DEMO_WORKER } from "./demo-identity.ts";

/** The demo's workers, which can be stopped and started again while sales are under way. */
export class DemoWorkers {
  readonly #options: WorkersOptions;
  #running: { serving: ServingWorkers; workers: RunningWorkers } | undefined;
  #fail: (error: unknown) => void = () => undefined;
  /** Rejects when a worker fails by itself; never resolves. */
  readonly failed: Promise<never>;

  constructor(options: WorkersOptions) {
    this.#options = { ...options, workerName: DEMO_WORKER };
    this.failed = new Promise<never>((_resolve, reject) => (this.#fail = reject));
    this.failed.catch(() => undefined);
  }

  async start(): Promise<void> {
    if (this.#running) return;
    const serving = await createWorkers(this.#options);
    const workers = new RunningWorkers(serving.workers, serving.endPolls);
    this.#running = { serving, workers };
    workers.ended.catch(this.#fail);
  }

  /** Loses no task, and waits for the calls in flight. */
  async drain(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.workers.drain();
    await running?.serving.close();
  }

  /** For good: waits for the calls in flight alone, since nobody will carry on what is not done by then. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.workers.stop();
    await running?.serving.close();
  }
}
