import { fileURLToPath } from "node:url";
import { NativeConnection, Worker } from "@temporalio/worker";

import { bundleQuietly } from "../../../src/worker/bundle-workflows.ts";
import { installQuietRuntime } from "../../stack/quiet-runtime.ts";
import { READY_LINE } from "../../stack/spawn-script.ts";
import type { BareActivities } from "./workflow.ts";

export interface BareOrders {
  readonly temporalAddress: string;
  readonly taskQueue: string;
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly businessId: string;
  readonly itemId: string;
}

/** A worker as Temporal's documentation shows it, with the SDK's own defaults. */
const orders = JSON.parse(process.argv[2] ?? "") as BareOrders;

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${orders.serviceUrl}${path}?businessId=${orders.businessId}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": orders.apiKey },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

const activities: BareActivities = {
  async createSale(invoice) {
    const lines = [{ itemId: orders.itemId, quantity: 1, unitPrice: 350 }];
    return JSON.stringify(await post("/v1/sales", { traderInvoiceNumber: invoice, lines }));
  },
  async adjustStock(invoice) {
    const movement = { itemId: orders.itemId, action: "DEDUCT", quantity: 1, unitPrice: 350, referenceId: invoice };
    return JSON.stringify(await post("/v1/stock/adjustments", movement));
  },
  async nothing() {},
};

installQuietRuntime();
const { code } = await bundleQuietly(fileURLToPath(new URL("workflow.js", import.meta.url)));
const connection = await NativeConnection.connect({ address: orders.temporalAddress });
const { taskQueue } = orders;
const worker = await Worker.create({ connection, taskQueue, workflowBundle: { code }, activities });
process.stdout.write(`${READY_LINE}\n`);
await worker.run();
