import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { freePort } from "../../src/servers/start-dev-server.ts";

/** Whether Debian's package `prometheus` is here, with promtool. */
export const HAS_PROMETHEUS = isThere("prometheus") && isThere("promtool");

function isThere(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export interface Target {
  job: string;
  port: number;
}

export interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

const START_MS = 30_000;
const LOOK_MS = 100;

/** A Prometheus that scrapes each second, and has the product's alerts. */
export class Prometheus {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #url: string;

  static async start(targets: readonly Target[], rules: string): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-prometheus-"));
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [rules],
      scrape_configs: targets.map(({ job, port }) => ({
        job_name: job,
        static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      })),
    };
    // JSON is YAML too.
    await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config));
    const port = await freePort();
    const child = spawn(
      "prometheus",
      [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: "ignore" },
    );
    const prometheus = new Prometheus(child, folder, `http://127.0.0.1:${port}`);
    const deadlineMs = performance.now() + START_MS;
    while (!(await prometheus.#isReady())) {
      if (performance.now() > deadlineMs) throw new Error("Prometheus does not serve");
      await delay(LOOK_MS);
    }
    return prometheus;
  }

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.#child = child;
    this.#folder = folder;
    this.#url = url;
  }

  async #isReady(): Promise<boolean> {
    return await fetch(`${this.#url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** @throws Error with what Prometheus says of a query that it cannot carry out */
  async query(query: string): Promise<Sample[]> {
    const answer = await fetch(`${this.#url}/api/v1/query?${new URLSearchParams({ query }).toString()}`);
    const body = (await answer.json()) as { status: string; error?: string; data?: { result: Sample[] } };
    if (!body.data) throw new Error(`${query}: ${body.error}`);
    return body.data.result;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill("SIGTERM");
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
