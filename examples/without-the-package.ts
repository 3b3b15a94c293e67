/**
 * Starts a sale and waits for its receipt from a service that has only Temporal's own client.
 *
 * First: `npm run demo -- --keep`, and the `export` lines that it prints.
 * Prints: DUKA-3003 is completed: receipt <number>
 * What each call takes, and what is refused: https://github.com/fiscalflow/fiscalflow/blob/main/docs/clients.md
 */
import { Client, Connection, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";

interface Outcome {
  stage: string;
  receipt: { cuInvoiceNo: string } | null;
}

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace });

const lines = [{ sku: "UNGA-2KG", quantity: 1, unitPrice: 198 }];
const sale = { businessId: "biz_demo", traderInvoiceNumber: "DUKA-3003", lines };
// The id and the policy make one sale of one invoice number. Only `createStarter` sees that its content is another.
const workflowId = `sale/default/${sale.businessId}/${sale.traderInvoiceNumber}`;
const start = { workflowId, taskQueue: "fiscalflow", workflowIdReusePolicy: "REJECT_DUPLICATE", args: [sale] } as const;
await client.workflow.start("sale", start).catch((error: unknown) => {
  if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
});

const handle = client.workflow.getHandle<() => Promise<Outcome>>(workflowId);
const asked = handle.executeUpdate<Outcome, [object]>("outcome", { args: [{ waitSeconds: 20 }] });
// A sale whose refund window is over is closed: its result is the same outcome.
const { stage, receipt } = await asked.catch((error: unknown) => {
  if (error instanceof WorkflowNotFoundError) return handle.result();
  throw error;
});
console.log(`${sale.traderInvoiceNumber} is ${stage}: receipt ${receipt?.cuInvoiceNo ?? "not there yet"}`);
await connection.close();
