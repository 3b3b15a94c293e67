/**
 * Refunds a sale in full with a credit note, and returns its goods to stock. Run again, it finds the same credit note.
 *
 * First: `npm run demo -- --keep`, the `export` lines that it prints, and `start-a-sale.ts`.
 * Prints: DUKA-3001 is credited: credit note CN-3001, receipt <number>
 */
import { createStarter, NotAllowedError, SaleNotFoundError } from "@fiscalflow/client";
import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const starter = createStarter({
  client: new Client({ connection, namespace }),
  businesses: { default: "biz_demo" },
});

try {
  const { stage, creditNote } = await starter.refund(
    { invoice: "DUKA-3001" },
    { reason: "06", traderInvoiceNumber: "CN-3001", restock: true },
    { waitSeconds: 20 },
  );
  const receipt = creditNote?.receipt?.cuInvoiceNo ?? "not there yet";
  console.log(`DUKA-3001 is ${stage}: credit note ${creditNote?.traderInvoiceNumber}, receipt ${receipt}`);
} catch (error) {
  // No such sale, or one that is not completed: the message says what is true and what is allowed.
  if (!(error instanceof NotAllowedError || error instanceof SaleNotFoundError)) throw error;
  console.log(error.message);
}
await connection.close();
