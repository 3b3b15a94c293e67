import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { NativeConnection } from "@temporalio/worker";

import { createWorkers, type ServingWorkers } from "../../src/worker/create-workers.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { ledgerOf } from "../../src/worker/ledger-of-config.ts";
import { RunningWorkers } from "../../src/worker/run-worker-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const WINDOW_MS = 10_000;
const LIMIT = 30;

describeWithTemporal("two workers on the budget of one application", () => {
  let rig: Rig;
  let native: NativeConnection;
  let ledger: Ledger;
  let serving: ServingWorkers;
  let second: RunningWorkers;
  beforeAll(async () => {
    rig = await startRig({
      receiver: false,
      simulator: { limitPerWindow: LIMIT, windowMs: WINDOW_MS },
      timings: { fallbackLimitPerMinute: LIMIT, firstPollMs: 100, longestPollMs: 300 },
    });
    // With a gate and a ledger of its own, as another process has.
    native = await NativeConnection.connect({ address: rig.address });
    ledger = ledgerOf(rig.config);
    serving = await createWorkers({
      config: rig.config,
      connection: native,
      client: rig.client,
      ledger,
      namespace: rig.namespace,
      workflowBundle: { codePath: inject("workflowBundlePath") },
    });
    second = new RunningWorkers(serving.workers, serving);
  });
  afterAll(async () => {
    await second?.stop();
    await serving?.close();
    await ledger?.close();
    await native?.close();
    await rig?.close();
  });

  const { start } = salesOf(() => rig);
  /** Those that were seen from beginning to end, after the first, in which the windows are learned. */
  const windowsSince = (sinceMs: number, untilMs: number) =>
    rig.simulator.books().windows.filter(({ startMs }) => startMs >= sinceMs && startMs + WINDOW_MS <= untilMs);
  const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

  test("do not slow down a single sale", async () => {
    await (await start("WARM-1")).result();
    await delay(WINDOW_MS);
    const startedAtMs = Date.now();
    await (await start("LONE-1")).result();
    const tookMs = Date.now() - startedAtMs;
    process.stderr.write(`a lone sale took ${tookMs} ms\n`);
    expect(tookMs).toBeLessThan(WINDOW_MS / 2);
  });

  test("work off a backlog of sales with full windows and hardly any refusals", async () => {
    const invoices = Array.from({ length: 130 }, (_, i) => `BACKLOG-${i}`);
    const startedAtMs = Date.now();
    const handles = await Promise.all(invoices.map((invoice) => start(invoice, { stock: "off" })));
    const startedAllMs = Date.now();
    for (const handle of handles) expect(await handle.result()).toMatchObject({ stage: "completed" });
    const lastCallMs = Math.max(...rig.simulator.calls().map(({ atMs }) => atMs));
    const windows = windowsSince(startedAtMs + WINDOW_MS / 2, lastCallMs);
    const used = windows.map((window) => window.used);
    const refused = sum(rig.simulator.books().windows.map((window) => window.refused));
    process.stderr.write(
      `130 sales, started within ${startedAllMs - startedAtMs} ms: windows of ${used.join(", ")} of ${LIMIT}; refused ${refused}\n`,
    );
    expect(used.length).toBeGreaterThanOrEqual(2);
    expect(sum(used) / used.length).toBeGreaterThanOrEqual(0.8 * LIMIT);
    // A busy machine holds a call up until its window has passed: how few there are on a quiet one, `bench:budget` tells.
    expect(refused).toBeLessThanOrEqual(0.05 * rig.simulator.calls().length);
  });

  test("carry out a sale at once although endless polls would use up every window", async () => {
    const invoices = Array.from({ length: 12 }, (_, i) => `POLLED-${i}`);
    for (const invoice of invoices) rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    const polled = await Promise.all(invoices.map((invoice) => start(invoice, { stock: "off" })));
    await delay(WINDOW_MS);
    const sinceMs = Date.now();
    const waitedMs: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      const startedAtMs = Date.now();
      const sale = await start(`URGENT-${i}`, { stock: "off" });
      await sale.result();
      const [call] = rig.simulator.calls().filter(({ invoice }) => invoice === `URGENT-${i}`);
      waitedMs.push((call?.atMs ?? Infinity) - startedAtMs);
      await delay(WINDOW_MS * 0.4);
    }
    const used = windowsSince(sinceMs, Date.now()).map((window) => window.used);
    waitedMs.sort((one, other) => one - other);
    process.stderr.write(`first calls after ${waitedMs.join(", ")} ms; windows of ${used.join(", ")} of ${LIMIT}\n`);
    expect(waitedMs[3]).toBeLessThan(0.3 * WINDOW_MS);
    expect(sum(used) / used.length).toBeGreaterThanOrEqual(0.7 * LIMIT);
    for (const sale of polled) await sale.terminate();
  });
});
