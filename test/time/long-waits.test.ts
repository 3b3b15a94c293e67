import { TestWorkflowEnvironment } from "@temporalio/testing";
import { Worker } from "@temporalio/worker";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { loadConfig } from "../../src/config/index.ts";
import {
  MAIN_TASK_QUEUE,
  SEARCH_ATTRIBUTES,
  type SaleInput,
  saleWorkflowId,
  type WorkflowState,
} from "../../src/contract/index.ts";
import { testServerOrSkipReason } from "../../src/embedded/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { type Simulator, startSimulator } from "../../src/simulator/index.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import "../rig/quiet-runtime.ts";
import { createWorkers } from "../../src/worker/create-workers.ts";
import { ledgerOf } from "../../src/worker/ledger-of.ts";
import { RunningWorkers } from "../../src/worker/run-workers.ts";

const server = await testServerOrSkipReason({ onProgress: (line) => process.stderr.write(`${line}\n`) });
const skipped = server.skipReason === undefined ? "" : ` (skipped: ${server.skipReason.split("\n", 1)[0] ?? ""})`;
const KEYWORD = 2;

/** On the time-skipping server, with the real timings: what takes days here takes seconds of the test. */
describe.skipIf(server.skipReason !== undefined)(`over days${skipped}`, () => {
  let env: TestWorkflowEnvironment;
  let simulator: Simulator;
  let workers: RunningWorkers;
  let close: () => Promise<void>;
  let ledger: Ledger | undefined;

  beforeAll(async () => {
    env = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: "existing-path", path: server.path ?? "" } },
    });
    const searchAttributes = Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD]));
    await env.connection.operatorService.addSearchAttributes({
      namespace: env.namespace ?? "default",
      searchAttributes,
    });
    simulator = await startSimulator({ limitPerWindow: 100_000 });
    const config = loadConfig({
      env: {
        COMPLIANCE_BASE_URL: simulator.url,
        COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
        COMPLIANCE_BUSINESS_ID: "biz_1",
        LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
      },
    });
    ledger = ledgerOf(config);
    const serving = await createWorkers({
      config,
      connection: env.nativeConnection,
      workflows: env.client.workflow,
      ledger,
      namespace: env.namespace ?? "default",
      workflowBundle: { codePath: inject("workflowBundlePath") },
    });
    close = serving.close;
    workers = new RunningWorkers(serving.workers);
  });

  afterAll(async () => {
    await workers?.drain();
    await close?.();
    await ledger?.close();
    await simulator?.close();
    await env?.teardown();
  });

  function start(traderInvoiceNumber: string, more: Partial<SaleInput> = {}) {
    const input = {
      businessId: "biz_1",
      traderInvoiceNumber,
      lines: [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }],
      ...more,
    };
    const workflowId = saleWorkflowId({ connection: "default", businessId: "biz_1", traderInvoiceNumber });
    return env.client.workflow.start("sale", { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [input] });
  }

  async function replayed(handle: Awaited<ReturnType<typeof start>>): Promise<void> {
    await Worker.runReplayHistory(
      { workflowBundle: { codePath: inject("workflowBundlePath") } },
      await handle.fetchHistory(),
    );
  }

  async function eventsOf(handle: Awaited<ReturnType<typeof start>>): Promise<number> {
    return (await handle.fetchHistory()).events?.length ?? 0;
  }

  test("a refund window of 30 days closes by itself", async () => {
    const handle = await start("WINDOW-1", { refundWindow: "30 days" });
    const before = await env.currentTimeMs();
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect((await env.currentTimeMs()) - before).toBeGreaterThan(29 * 24 * 3_600_000);
    await replayed(handle);
  });

  test("a sale that is in flight for a week costs a bounded history and few calls, and is shown as slow after an hour", async () => {
    simulator.setAuthority("WEEK-1", [{ do: "down" }]);
    const handle = await start("WEEK-1", { refundWindow: "0" });
    await env.sleep("2 hours");
    const state = await handle.query<WorkflowState>("state");
    expect(state).toMatchObject({ stage: "awaiting-authority", attentions: [{ code: "authority-slow" }] });
    const early = await eventsOf(handle);
    await env.sleep("7 days");
    expect(await eventsOf(handle)).toBe(early);
    const reads = simulator.calls({ operation: "readSale" }).length;
    expect(reads).toBeGreaterThan(50);
    expect(reads).toBeLessThan(400);
    simulator.setAuthority("WEEK-1", [{ do: "accept" }]);
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    // Its record while it waits, and the one at its end, are seven of them.
    expect(await eventsOf(handle)).toBeLessThan(70);
    await replayed(handle);
  });

  test("a sale and a refund have the date that it is in Nairobi when they are asked for", async () => {
    const until = async (time: string): Promise<string> => {
      const nowMs = await env.currentTimeMs();
      const today = new Date(nowMs).toISOString().slice(0, 10);
      const laterTodayMs = Date.parse(`${today}T${time}Z`);
      const atMs = laterTodayMs > nowMs ? laterTodayMs : laterTodayMs + 86_400_000;
      await env.sleep(atMs - nowMs);
      return new Date(atMs).toISOString().slice(0, 10);
    };
    const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
    const dateOf = (invoice: string) => simulator.documents(invoice)[0]?.saleDate;

    const before = await until("20:59:00");
    // Time passes while a result is awaited, and with it the window of every open sale; it does not while an update is.
    const completed = async (invoice: string) => {
      const handle = await start(invoice, { refundWindow: "30 days" });
      expect(await handle.executeUpdate("outcome", { args: [{ waitSeconds: 20 }] })).toMatchObject({
        stage: "completed",
      });
      return handle;
    };
    const handle = await completed("NAIROBI-2059");
    expect(dateOf("NAIROBI-2059")).toBe(before);

    const day = await until("21:00:00");
    await completed("NAIROBI-2100");
    await handle.executeUpdate("refund", { args: [{ reason: "06", traderInvoiceNumber: "CN-NAIROBI-2100" }] });
    expect([dateOf("NAIROBI-2100"), dateOf("CN-NAIROBI-2100")]).toEqual([dayAfter(day), dayAfter(day)]);

    const late = await until("23:59:00");
    await completed("NAIROBI-2359");
    expect(dateOf("NAIROBI-2359")).toBe(dayAfter(late));
  });

  test("a refused key is looked at again by itself, ever more slowly", async () => {
    simulator.setKey("cmp_sk_test_simulator", { scopes: ["sales:read", "catalog:read", "stock:write"] });
    const handle = await start("KEY-1", { refundWindow: "0" });
    await env.sleep("6 hours");
    const state = await handle.query<WorkflowState>("state");
    expect(state.attentions).toMatchObject([{ code: "credentials" }]);
    const tries = simulator.calls({ operation: "createSale", status: 403 }).length;
    expect(tries).toBeGreaterThanOrEqual(5);
    expect(tries).toBeLessThan(20);
    simulator.setKey("cmp_sk_test_simulator", { scopes: ["sales:read", "sales:write", "catalog:read", "stock:write"] });
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    await replayed(handle);
  });

  test("a refused key is looked at for all sales together, and all go on by themselves once it works", async () => {
    simulator.setApplicationSuspended("simulator", true);
    const before = simulator.calls().length;
    const handles = await Promise.all(Array.from({ length: 20 }, (_, i) => start(`KEYS-${i}`, { refundWindow: "0" })));
    await env.sleep("6 hours");
    // Each wakes ten times in these hours, two hundred times in all; those who wake within ten minutes share one look.
    const looks = simulator.calls().length - before;
    expect(looks).toBeGreaterThanOrEqual(5);
    expect(looks).toBeLessThan(40);
    simulator.setApplicationSuspended("simulator", false);
    const mendedAtMs = await env.currentTimeMs();
    const closedAtMs: number[] = [];
    for (const handle of handles) {
      expect(await handle.result()).toMatchObject({ stage: "completed" });
      closedAtMs.push((await handle.describe()).closeTime?.getTime() ?? Infinity);
    }
    // The longest pause of a sale, and the longest of the key.
    expect(Math.max(...closedAtMs) - mendedAtMs).toBeLessThan(71 * 60_000);
  });
});
