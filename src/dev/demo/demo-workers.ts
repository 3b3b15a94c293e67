import { createWorkers, type ServingWorkers, type WorkersOptions } from "../../worker/create-workers.ts";
import { RunningWorkers } from "../../worker/run-worker-process.ts";

/** What the demo's worker is called in its identity. */
export const DEMO_WORKER = "fiscalflow-demo";

const DEMO_IDENTITY = new RegExp(`^${DEMO_WORKER}-(\\d+)-[0-9a-f]+@(.+)$`);

/** The process behind the identity of a demo's worker; undefined for any other worker's. */
export function demoProcessOf(identity: string): { pid: number; host: string } | undefined {
  const match = DEMO_IDENTITY.exec(identity);
  return match?.[1] && match[2] ? { pid: Number(match[1]), host: match[2] } : undefined;
}

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
    const workers = new RunningWorkers(serving.workers, serving);
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
