import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";

import { STATE_QUERY } from "../../src/contract/index.ts";
import type { ScenarioInput } from "../../src/dev/simulator/index.ts";
import { createStarter } from "../../src/starter/index.ts";
import { ProductFleet } from "../stack/product-fleet.ts";
import { spawnScript } from "../stack/spawn-script.ts";
import type { BenchStack } from "../stack/start-stack.ts";
import type { BareOrders } from "./bare/worker.ts";
import type { BareSale } from "./bare/workflow.ts";

/** One worker process that carries sales, and how sales are given to it. */
export interface Till {
  readonly pid: number;
  /** Starts a sale and waits until its workflow has ended. */
  sell(invoice: string, onStarted?: () => void, lines?: number): Promise<void>;
  /** Asks for the state of a sale. */
  ask(invoice: string): Promise<unknown>;
  workflowId(invoice: string): string;
  /**
   * Resolves once the process is gone: a worker that drains goes on taking tasks, and would take those of the next
   * lane's measure.
   */
  stop(): Promise<void>;
}

type OpenTill = (stack: BenchStack, onLost: (error: Error) => void) => Promise<Till>;

const API_KEY = "cmp_sk_test_bench_engine";
const BUSINESS = "biz_engine";
const ITEM = "biz_engine_tea";
/** Of a large sale: a line for each item of the catalogue. */
export const MOST_LINES = 1_000;

export const SCENARIO: ScenarioInput = {
  applications: [{ name: "shop", keys: [{ key: API_KEY }] }],
  businesses: [{ id: BUSINESS, name: "Duka", branches: [{ id: "branch_1", authorityBhfId: "00" }] }],
  items: Array.from({ length: MOST_LINES }, (_, n) => ({
    id: itemOf(n),
    businessId: BUSINESS,
    name: `goods number ${n}`,
    unitPrice: 350,
  })),
};

function itemOf(line: number): string {
  return line === 0 ? ITEM : `${ITEM}_${line}`;
}

/** @param env of the worker process, beyond what the stack has for it */
export function product(env: Readonly<Record<string, string>> = {}): OpenTill {
  return async ({ client, simulator, folder, env: ofStack }, onLost) => {
    const fleet = await ProductFleet.start(
      {
        folder,
        processes: 1,
        serviceUrl: simulator.url,
        connections: [{ name: "default", application: "shop", apiKey: API_KEY }],
        env: { ...ofStack, ...workerSettings(), ...env },
      },
      onLost,
    );
    const starter = createStarter({ client, businesses: { default: BUSINESS }, identity: "bench" });
    const linesOf = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ itemId: itemOf(n), quantity: 1, unitPrice: 350 }));
    return {
      pid: fleet.pids[0] ?? 0,
      async sell(invoice, onStarted, count = 1) {
        const sale = { traderInvoiceNumber: invoice, lines: linesOf(count), refundWindow: "0" };
        const { workflowId } = await starter.startSale(sale);
        onStarted?.();
        await client.workflow.getHandle(workflowId).result();
      },
      ask: (invoice) => starter.getSale({ invoice }),
      workflowId: (invoice) => starter.workflowId({ invoice }),
      stop: () => fleet.stop(),
    };
  };
}

/** @param more activities beyond the two that call the API */
export function bare(more: number): OpenTill {
  return async ({ client, simulator, temporalAddress }, onLost) => {
    const taskQueue = `bench-bare-${randomUUID()}`;
    const { url: serviceUrl } = simulator;
    const orders: BareOrders = {
      temporalAddress,
      taskQueue,
      serviceUrl,
      apiKey: API_KEY,
      businessId: BUSINESS,
      itemId: ITEM,
    };
    const worker = await spawnScript(fileURLToPath(new URL("bare/worker.js", import.meta.url)), orders, onLost);
    const workflowId = (invoice: string): string => `bare/${invoice}`;
    return {
      pid: worker.pid,
      async sell(invoice, onStarted) {
        const args: [BareSale] = [{ invoice, more }];
        const handle = await client.workflow.start("bareSale", { workflowId: workflowId(invoice), taskQueue, args });
        onStarted?.();
        await handle.result();
      },
      ask: (invoice) => client.workflow.getHandle(workflowId(invoice)).query(STATE_QUERY),
      workflowId,
      stop: () => worker.stop(),
    };
  };
}

/** Those that are set here, to compare them. */
function workerSettings(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => name.startsWith("FISCALFLOW_WORKER_"));
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? ""]));
}
