import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { loadConfig } from "../../src/config/index.ts";
import {
  MAIN_TASK_QUEUE,
  type SyncBillPaymentsOutcome,
  syncBillPaymentsWorkflowId,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { type Simulator, startSimulator } from "../../src/dev/simulator/index.ts";
import { ProductProcess } from "../faults/stack/product-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { namespaceOf } from "../rig/namespace.ts";
import { differences, ledgersBooks, simulatorsBooks } from "../accounting/books.ts";

/**
 * The full size: MANY_BILL_PAYMENTS=100000 MANY_KILLS=10 npx vitest run --project night test/scale/bill-payments.night.test.ts
 */
const PAYMENTS = Number(process.env["MANY_BILL_PAYMENTS"] ?? 4_000);
const KILLS = Number(process.env["MANY_KILLS"] ?? 1);
const WITHIN_MS = 120_000 + PAYMENTS * 30 + KILLS * 60_000;

const MOST_EVENTS_A_RUN = 400;
const MOST_GROWTH_BYTES = 150 * 1024 * 1024;

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const workflowId = syncBillPaymentsWorkflowId("default");

/** The same numbers in every run. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describeWithTemporal(`the synchronisation of ${PAYMENTS} bill payments by processes of the product`, () => {
  let simulator: Simulator;
  let connection: Connection;
  let client: Client;
  let folder: string;
  let env: Record<string, string>;
  let worker: ProductProcess;
  beforeAll(async () => {
    if (!existsSync(MAIN)) throw new Error("this suite runs what is built: run `npm run build` first");
    simulator = await startSimulator({ scenario: { accounting: { generatedBillPayments: PAYMENTS } } });
    const namespace = namespaceOf(import.meta.filename);
    connection = await Connection.connect({ address: inject("temporalAddress") ?? "" });
    client = new Client({ connection, namespace });
    folder = await mkdtemp(join(tmpdir(), "many-bill-payments-"));
    env = {
      TEMPORAL_ADDRESS: inject("temporalAddress") ?? "",
      TEMPORAL_NAMESPACE: namespace,
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      ACCOUNTING_BASE_URL: simulator.accounting.url,
      ACCOUNTING_API_KEY: "sk_development_simulator",
      ACCOUNTING_CLIENT_SECRET: "cs_simulator",
      LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
      // What a killed worker was at is tried again when this is over, and twenty seconds.
      FISCALFLOW_TIMING_CALL_TIMEOUT_MS: "5000",
    };
    worker = await serving();
  });
  afterAll(async () => {
    worker.signal("SIGKILL");
    await worker.ended;
    await connection.close();
    await simulator.close();
    await rm(folder, { recursive: true });
  });

  async function serving(): Promise<ProductProcess> {
    const logPath = join(folder, "worker.log");
    const started = new ProductProcess({ main: MAIN, command: "worker", env, logPath, readyMessage: "serving" });
    if (!(await started.ready)) throw new Error(`the worker ended: ${readFileSync(logPath, "utf8")}`);
    return started;
  }

  const start = () =>
    client.workflow.start(WORKFLOW_TYPES.syncBillPayments, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId,
      args: [{ full: true }],
    });
  const pages = () => simulator.accounting.calls("listBillPayments").length;
  const unlike = async () => differences(simulatorsBooks(simulator), await ledgersBooks(loadConfig({ env })));

  /** Bytes that the worker holds. */
  function residentBytes(): number {
    const status = readFileSync(`/proc/${worker.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
  }

  /** Adds, changes and removes payments, all over the list, with each page until the end of what is to be disturbed. */
  function disturb(untilPages: number, seed: number): Promise<void> {
    const { accounting } = simulator;
    const random = dice(seed);
    let seen = 0;
    const anyId = (): string => `bp_${String(1 + Math.floor(random() * PAYMENTS)).padStart(7, "0")}`;
    const gone = new Set<string>();
    return simulator.until(() => {
      const read = pages();
      if (read <= seen || read > untilPages) return read > untilPages;
      seen = read;
      accounting.addBillPayment({ id: `added_${seed}_${read}`, totalAmount: read / 100 }, { status: "pending" });
      const [changed, moved, removed] = [anyId(), anyId(), anyId()];
      if (!gone.has(changed))
        tryTo(() => accounting.changeBillPayment(changed, { note: `page ${read}` }, { status: "synced" }));
      if (!gone.has(moved)) tryTo(() => accounting.changeBillPayment(moved, { date: "2026-01-01", totalAmount: read }));
      if (read % 7 === 0 && accounting.removeBillPayment(removed)) gone.add(removed);
      return false;
    });
  }

  test(
    "stays within bounded memory and history, while payments are added, changed, removed and re-ordered",
    { timeout: WITHIN_MS },
    async () => {
      const before = residentBytes();
      let most = before;
      const watching = simulator.until(() => {
        most = Math.max(most, residentBytes());
        return pages() >= Math.floor((2 * PAYMENTS) / 100);
      });
      const disturbed = disturb(Math.floor((1.5 * PAYMENTS) / 100), 1);
      const handle = await start();
      const outcome = (await handle.result()) as SyncBillPaymentsOutcome;
      await disturbed;
      await watching;
      expect(outcome).toMatchObject({ kind: "full", settled: true });
      expect(await unlike()).toEqual([]);
      expect(most - before).toBeLessThan(MOST_GROWTH_BYTES);
      const lengths: number[] = [];
      const runs = client.workflow.list({ query: `WorkflowId = '${workflowId}'` });
      for await (const { historyLength } of runs) lengths.push(Number(historyLength ?? 0));
      expect(lengths.length).toBeGreaterThan(0);
      expect(Math.max(...lengths)).toBeLessThan(MOST_EVENTS_A_RUN);
      const figures = { pages: pages(), rounds: outcome.round, runs: lengths.length, mostEvents: Math.max(...lengths) };
      const megabytes = { before: Math.round(before / 2 ** 20), most: Math.round(most / 2 ** 20) };
      process.stderr.write(`${JSON.stringify({ payments: PAYMENTS, ...figures, megabytes })}\n`);
    },
  );

  test(`ends equal to the service although its worker is killed ${KILLS} times`, { timeout: WITHIN_MS }, async () => {
    simulator.accounting.resetCalls();
    const onePass = (2 * PAYMENTS) / 100;
    const random = dice(7);
    const kills = Array.from({ length: KILLS }, () => 1 + Math.floor(random() * onePass * 0.9)).toSorted(
      (a, b) => a - b,
    );
    const disturbed = disturb(Math.floor(onePass / 2), 2);
    const handle = await start();
    for (const [index, atPage] of kills.entries()) {
      await simulator.until(() => pages() >= atPage + index);
      worker.signal("SIGKILL");
      await worker.ended;
      worker = await serving();
    }
    expect(await handle.result()).toMatchObject({ settled: true });
    await disturbed;
    expect(await unlike()).toEqual([]);
    process.stderr.write(`${JSON.stringify({ payments: PAYMENTS, kills, pages: pages() })}\n`);
  });
});

/** One that was removed is not there to be changed. */
function tryTo(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "InstructionError") throw error;
  }
}
