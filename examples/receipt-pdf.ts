/**
 * Writes the receipt of a sale as a PDF, for a printer or an e-mail. Run again, it writes the same bytes.
 *
 * First: `npm run demo -- --keep`, the `export` lines that it prints, and `start-a-sale.ts`.
 * Prints: DUKA-3001.pdf: <bytes> bytes
 */
import { writeFile } from "node:fs/promises";
import { createStarter } from "@fiscalflow/client";
import { receiptPdf } from "@fiscalflow/receipt";
import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace });
const starter = createStarter({ client, businesses: { default: "biz_demo" } });

const { sale } = await starter.outcome({ invoice: "DUKA-3001" }, { waitSeconds: 20 });
if (!sale) throw new Error("DUKA-3001 has no document yet: there is nothing to print.");
// The name and the PIN are the shop's own word: the signed values do not have them, and the receipt says so.
const pdf = await receiptPdf(sale, { seller: { name: "Duka ya Mfano", pin: "P051234567Z" } });
await writeFile("DUKA-3001.pdf", pdf);
console.log(`DUKA-3001.pdf: ${pdf.length} bytes`);
await connection.close();
