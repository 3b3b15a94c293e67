import type { TestWorkflowEnvironment } from "@temporalio/testing";
import type { WorkflowHandle } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import { inject } from "vitest";

import { loadConfig } from "../../src/config/index.ts";
import { MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES, type SaleInput, saleWorkflowId } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { type Simulator, startSimulator } from "../../src/dev/simulator/index.ts";
import { createWorkers } from "../../src/worker/create-workers.ts";
import { ledgerOf } from "../../src/worker/ledger-of-config.ts";
import { RunningWorkers } from "../../src/worker/run-worker-process.ts";
import { freshDatabase } from "./fresh-database.ts";
import { startTimeSkipping } from "./time-skipping.ts";
import "./quiet-runtime.ts";

const KEYWORD = 2;

export interface SkippingRig {
  env: TestWorkflowEnvironment;
  simulator: Simulator;
  /** The one that the workers use. */
  ledger: Ledger;
  /** A sale of one packet of tea. */
  startSale(traderInvoiceNumber: string, more?: Partial<SaleInput>): Promise<WorkflowHandle>;
  eventsOf(handle: WorkflowHandle): Promise<number>;
  /** Its history, against the workflows as they are. */
  replayed(handle: WorkflowHandle): Promise<void>;
  close(): Promise<void>;
}

/**
 * The product with its real timings, but for those that are given as settings, on a server that skips time: what takes
 * days here takes seconds of the test.
 */
export async function startSkippingRig(more: Record<string, string> = {}): Promise<SkippingRig> {
  const env = await startTimeSkipping();
  const namespace = env.namespace ?? "default";
  const searchAttributes = Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD]));
  await env.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  const simulator = await startSimulator({ limitPerWindow: 100_000 });
  const loaded = loadConfig({
    env: {
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      ACCOUNTING_BASE_URL: simulator.accounting.url,
      ACCOUNTING_API_KEY: "sk_development_simulator",
      ACCOUNTING_CLIENT_SECRET: "cs_simulator",
      LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
      ...more,
    },
  });
  // This server cannot be asked for the end of a history, by which queries of cached runs are checked.
  const config = { ...loaded, worker: { ...loaded.worker, cachedWorkflows: 0, workflowTasks: 1 } };
  const ledger = ledgerOf(config);
  const workflowBundle = { codePath: inject("workflowBundlePath") };
  const serving = await createWorkers({
    config,
    connection: env.nativeConnection,
    client: env.client,
    ledger,
    namespace,
    workflowBundle,
  });
  const workers = new RunningWorkers(serving.workers, {
    endWaits: serving.endWaits,
    endPolls: () => Promise.resolve(),
  });
  return {
    env,
    simulator,
    ledger,
    startSale(traderInvoiceNumber, more = {}) {
      const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
      const input = { businessId: "biz_1", traderInvoiceNumber, lines, ...more };
      const workflowId = saleWorkflowId({ connection: "default", businessId: "biz_1", traderInvoiceNumber });
      return env.client.workflow.start("sale", { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [input] });
    },
    async eventsOf(handle) {
      return (await handle.fetchHistory()).events?.length ?? 0;
    },
    async replayed(handle) {
      await Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory());
    },
    async close() {
      await workers.drain();
      await serving.close();
      await ledger.close();
      await simulator.close();
      await env.teardown();
    },
  };
}
