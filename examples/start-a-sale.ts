/**
 * Starts a sale and waits for its receipt. Run again, it finds the same sale: nothing is issued twice.
 *
 * First: `npm run demo -- --keep`, and the `export` lines that it prints.
 * Prints: DUKA-3001 is completed (started): receipt <number>
 */
import { createStarter } from "@fiscalflow/client";
import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const starter = createStarter({
  client: new Client({ connection, namespace }),
  businesses: { default: "biz_demo" },
});

const { result, outcome } = await starter.startSaleAndWait({
  traderInvoiceNumber: "DUKA-3001",
  lines: [
    { sku: "UNGA-2KG", quantity: 2, unitPrice: 198 },
    { sku: "SUKARI-1KG", quantity: 1, unitPrice: 165 },
  ],
});
if (outcome.receipt) {
  console.log(`DUKA-3001 is ${outcome.stage} (${result}): receipt ${outcome.receipt.cuInvoiceNo}`);
} else {
  // The sale goes on by itself; `starter.outcome({ invoice: "DUKA-3001" })` asks for it again later.
  console.log(`DUKA-3001 is ${outcome.stage}: ${outcome.attention?.message ?? "no receipt yet"}`);
}
await connection.close();
