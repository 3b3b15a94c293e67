import { Client, Connection } from "@temporalio/client";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { createCallbackToken } from "../../src/callbacks/index.ts";
import { freePort } from "../../src/servers/start-dev-server.ts";
import { ProductProcess } from "../faults/stack/product-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { namespaceOf } from "../rig/namespace.ts";
import { sendHostile, SlowSenders } from "./hostile-senders.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const SECRET = "a secret of the tests that is long enough to be one";
const REQUESTS = Number(process.env["HOSTILE_REQUESTS"] ?? "20000");
/** Run by hand, on a quiet machine: only then the time that a callback takes says anything. */
const HAS_MACHINE = process.env["HOSTILE_REQUESTS"] !== undefined;
const PER_SECOND = 500;
const SLOW_SENDERS = 200;
const CALLBACKS_PER_SECOND = 5;
/** Before the load, to compare with. */
const QUIET_CALLBACKS = 50;
const MOST_P95_MS = 50;
const MOST_MEMORY_BYTES = 50e6;
const MOST_LOG_BYTES = 1e6;

describeWithTemporal("the callback receiver under hostile load", () => {
  const namespace = namespaceOf(import.meta.filename);
  let folder: string;
  let connection: Connection;
  let client: Client;
  let receiver: ProductProcess;
  let port: number;
  let metricsPort: number;
  const agent = new Agent({ keepAlive: true, maxSockets: 5 });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "hostile-load-"));
    connection = await Connection.connect({ address: inject("temporalAddress") });
    client = new Client({ connection, namespace });
    [port, metricsPort] = [await freePort(), await freePort()];
    receiver = new ProductProcess({
      main: MAIN,
      command: "callbacks",
      env: {
        TEMPORAL_ADDRESS: inject("temporalAddress") ?? "",
        TEMPORAL_NAMESPACE: namespace,
        CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
        CALLBACK_SECRETS: SECRET,
        CALLBACK_PORT: String(port),
        METRICS_PORT: String(metricsPort),
        ACCOUNTING_BASE_URL: "http://127.0.0.1:9",
        ACCOUNTING_API_KEY: "sk_development_simulator",
        ACCOUNTING_WEBHOOK_SECRET: "whsec_development_simulator",
        ACCOUNTING_DIALECT: JSON.stringify({ webhook: { enabled: true } }),
      },
      logPath: join(folder, "callbacks.log"),
      readyMessage: "receiving",
    });
    await receiver.ready;
  });
  afterAll(async () => {
    agent.destroy();
    receiver?.signal("SIGTERM");
    await receiver?.ended;
    await connection?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  const workflowIdOf = (sale: number): string => `sale/default/biz_1/REAL-${sale}`;
  const pathOf = (sale: number): string =>
    `/callbacks/${createCallbackToken({ workflowId: workflowIdOf(sale) }, SECRET)}`;

  /** Sales that are open and that nobody works for: a signal stays in the history as it came. */
  async function openSales(from: number, to: number): Promise<void> {
    for (let sale = from; sale < to; sale += 25) {
      const ids = Array.from({ length: Math.min(25, to - sale) }, (_, n) => workflowIdOf(sale + n));
      await Promise.all(
        ids.map((workflowId) => client.workflow.start("sale", { workflowId, taskQueue: "nobody", args: [{}] })),
      );
    }
  }

  /** A real callback, to its answer; the status is 0 if there is none. */
  function callBack(sale: number): Promise<{ status: number; tookMs: number }> {
    const beganMs = performance.now();
    return new Promise((resolve) => {
      const headers = { "content-type": "application/json" };
      const request = httpRequest({ agent, host: "127.0.0.1", port, path: pathOf(sale), method: "POST", headers });
      request.on("response", (response) => {
        response.resume().on("end", () => {
          resolve({ status: response.statusCode ?? 0, tookMs: performance.now() - beganMs });
        });
      });
      request
        .on("error", () => resolve({ status: 0, tookMs: performance.now() - beganMs }))
        .end('{"event":"sale.completed"}');
    });
  }

  const memoryBytes = (): number =>
    Number(execFileSync("ps", ["-o", "rss=", "-p", String(receiver.pid)], { encoding: "utf8" })) * 1_024;

  async function samplesOf(metric: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const samples = text.split("\n").filter((line) => line.startsWith(`${metric}{`));
    return samples.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  const seconds = REQUESTS / PER_SECOND;
  test(
    "accepts nothing hostile, stays small and quiet, and passes real callbacks on in time",
    async () => {
      const realOnes = Math.floor(seconds * CALLBACKS_PER_SECOND);
      const unreported = QUIET_CALLBACKS + realOnes;
      await openSales(0, unreported + 1);
      const quiet: number[] = [];
      for (let sale = 0; sale < QUIET_CALLBACKS; sale += 1) {
        const { status, tookMs } = await callBack(sale);
        expect(status).toBe(202);
        quiet.push(tookMs);
      }
      const startBytes = memoryBytes();
      let mostBytes = startBytes;

      const target = { port, path: pathOf(unreported) };
      const slow = new SlowSenders(target, SLOW_SENDERS);
      await expect.poll(() => slow.open).toBe(SLOW_SENDERS);
      const hostile = sendHostile(target, REQUESTS, PER_SECOND);
      const real: Promise<{ status: number; tookMs: number }>[] = [];
      const beganMs = performance.now();
      for (let sent = 0; sent < realOnes; sent += 1) {
        await delay(Math.max(0, beganMs + (sent * 1_000) / CALLBACKS_PER_SECOND - performance.now()));
        real.push(callBack(QUIET_CALLBACKS + sent));
        if (sent % CALLBACKS_PER_SECOND === 0) mostBytes = Math.max(mostBytes, memoryBytes());
      }
      const answers = await hostile;
      const tookS = (performance.now() - beganMs) / 1_000;
      mostBytes = Math.max(mostBytes, memoryBytes());
      const answered = await Promise.all(real);
      slow.stop();
      const accepted = await samplesOf("fiscalflow_receiver_accepted_total");
      const refused = await samplesOf("fiscalflow_receiver_refused_total");
      receiver.signal("SIGTERM");
      expect(await receiver.ended).toBe(0);
      const { size: logBytes } = await stat(join(folder, "callbacks.log"));
      const lengths = new Map<number, number>();
      for (let sale = 0; sale <= unreported; sale += 1) {
        const { historyLength } = await client.workflow.getHandle(workflowIdOf(sale)).describe();
        lengths.set(historyLength, (lengths.get(historyLength) ?? 0) + 1);
      }

      const [p95Ms, quietP95Ms] = [p95(answered.map(({ tookMs }) => tookMs)), p95(quiet)];
      process.stderr.write(
        `${JSON.stringify(
          {
            requests: REQUESTS,
            perSecond: Math.round(REQUESTS / tookS),
            slowSenders: SLOW_SENDERS,
            slowSendersCutOff: slow.cutOff,
            hostileAnswers: Object.fromEntries(answers),
            realCallbacks: realOnes,
            p95Ms: round(p95Ms),
            quietP95Ms: round(quietP95Ms),
            startMB: round(startBytes / 1e6),
            mostMB: round(mostBytes / 1e6),
            logKB: round(logBytes / 1e3),
            accepted,
            refused,
          },
          null,
          2,
        )}\n`,
      );
      expect([...answers.keys()].filter((answer) => /: 2/.test(answer))).toEqual([]);
      expect([...answers.values()].reduce((sum, count) => sum + count)).toBeGreaterThan(REQUESTS * 0.99);
      expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([202]));
      expect(accepted).toBe(QUIET_CALLBACKS + realOnes);
      // Started, task scheduled, signalled: once each, and the one that nobody reported not at all.
      expect(Object.fromEntries(lengths)).toEqual({ 2: 1, 3: unreported });
      expect(slow.cutOff).toBeGreaterThan(SLOW_SENDERS);
      expect(refused).toBeGreaterThan(REQUESTS * 0.98);
      expect(mostBytes - startBytes).toBeLessThan(MOST_MEMORY_BYTES);
      expect(logBytes).toBeLessThan(MOST_LOG_BYTES);
      expect(p95Ms).toBeLessThan(HAS_MACHINE ? Math.max(MOST_P95_MS, 2 * quietP95Ms) : Number.POSITIVE_INFINITY);
    },
    seconds * 1_000 + 180_000,
  );
});

function p95(valuesMs: readonly number[]): number {
  return valuesMs.toSorted((one, other) => one - other)[Math.ceil(valuesMs.length * 0.95) - 1] ?? 0;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
