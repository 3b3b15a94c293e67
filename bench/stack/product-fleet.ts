import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { ProductProcess } from "../../test/faults/stack/product-process.ts";

interface FleetConnection {
  readonly name: string;
  readonly application: string;
  readonly apiKey: string;
  /** A file that holds the key; default: a variable does. */
  readonly keyFile?: string;
  /** Default: any that the key reaches. */
  readonly businessId?: string;
}

export interface FleetOptions {
  readonly folder: string;
  readonly processes: number;
  readonly serviceUrl: string;
  readonly connections: readonly FleetConnection[];
  readonly env: Readonly<Record<string, string>>;
}

/** Worker processes of the built product that share their configuration. They do not outlive this one. */
export class ProductFleet {
  readonly #processes: readonly ProductProcess[];
  #stopping = false;

  private constructor(processes: readonly ProductProcess[], onLost: (error: Error) => void) {
    this.#processes = processes;
    for (const { ended } of processes)
      void ended.then((code) => {
        if (!this.#stopping) onLost(new Error(`a worker process ended by itself with exit code ${code}`));
      });
  }

  /** Resolves once all of them serve. @throws where one ends before */
  static async start(options: FleetOptions, onLost: (error: Error) => void): Promise<ProductFleet> {
    const { folder, processes, serviceUrl, connections } = options;
    const configPath = join(folder, `fleet-${processes}.json`);
    const keyVariables = connections.flatMap(({ apiKey, keyFile }, index) =>
      keyFile === undefined ? [[`BENCH_KEY_${index}`, apiKey] as const] : [],
    );
    const compliance = Object.fromEntries(
      connections.map(({ name, application, keyFile, businessId }, index) => {
        const apiKey = keyFile === undefined ? { env: `BENCH_KEY_${index}` } : { file: keyFile };
        const businesses = businessId === undefined ? { businesses: ["*"] } : { businessId };
        return [name, { baseUrl: serviceUrl, apiKey, application, ...businesses }];
      }),
    );
    await writeFile(configPath, JSON.stringify({ compliance }));
    const env = { ...options.env, ...Object.fromEntries(keyVariables), FISCALFLOW_CONFIG: configPath };
    const started: ProductProcess[] = [];
    for (let index = 0; index < processes; index += 1) {
      const logPath = join(folder, `worker-${processes}-${index}.log`);
      const one = new ProductProcess({ main: BUILT_MAIN, command: "worker", env, logPath, readyMessage: "serving" });
      started.push(one);
      // One after the other: each start is a second of work for a processor.
      if (await one.ready) continue;
      for (const other of started) other.signal("SIGKILL");
      throw new Error(`a worker process of the product ended before it served; its log is ${logPath}`);
    }
    return new ProductFleet(started, onLost);
  }

  get pids(): number[] {
    return this.#processes.flatMap(({ pid }) => pid ?? []);
  }

  /** At once: what they are at is of no interest any more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const process of this.#processes) process.signal("SIGKILL");
    await Promise.all(this.#processes.map(({ ended }) => ended));
  }

  /** As an operator stops them, so that they give up what they have in the database. */
  async drain(): Promise<void> {
    this.#stopping = true;
    for (const process of this.#processes) process.signal("SIGTERM");
    const all = Promise.all(this.#processes.map(({ ended }) => ended));
    await Promise.race([all, delay(DRAIN_MS, undefined, { ref: false })]);
    await this.stop();
  }
}

/** Longer than a worker waits for its polls and its calls. */
const DRAIN_MS = 150_000;

/** The benchmarks are compiled beside the product: `dist/bench/…` beside `dist/src/…`. */
export const BUILT_MAIN = fileURLToPath(new URL("../../src/main.js", import.meta.url));
