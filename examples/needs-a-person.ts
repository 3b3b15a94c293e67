/**
 * Finds the sales and credit notes that need a person, and passes the person's answers on.
 *
 * First: `npm run demo -- --keep`, the `export` lines that it prints, and a sale that nobody can carry on by itself:
 *   echo '{"traderInvoiceNumber":"DUKA-3002","lines":[{"sku":"NO-SUCH","quantity":1,"unitPrice":60}]}' |
 *     npx fiscalflow sale start - --wait
 * Prints: sale/default/biz_demo/DUKA-3002: item-unknown, <what happened>
 */
import { createInterface } from "node:readline/promises";
import { answeredInTime, operations, STATE_QUERY, type WorkflowState } from "@fiscalflow/client";
import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";

const { connectionOptions, namespace } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const client = new Client({ connection, namespace });
const operate = operations(client);
const person = createInterface({ input: process.stdin, output: process.stdout });

const query = `ExecutionStatus = "Running" AND FiscalAttention IS NOT NULL AND WorkflowType IN ("sale", "creditNote")`;
for await (const { workflowId } of client.workflow.list({ query })) {
  const handle = client.workflow.getHandle(workflowId);
  const { attentions } = await answeredInTime(client, workflowId, () => handle.query<WorkflowState>(STATE_QUERY));
  for (const { code, subject, message, resolvedBy } of attentions) {
    console.log(`${workflowId}: ${code}, ${message}`);
    if (code === "stock-unknown" && subject !== undefined) {
      const answer = await person.question(`Has the service made the movement ${subject}? yes, no, or Enter to skip: `);
      const resolution = { referenceId: subject, applied: answer === "yes", note: "looked up in the stock journal" };
      if (answer === "yes" || answer === "no")
        console.log((await operate.resolveStock(workflowId, resolution)).message);
    } else if (resolvedBy.includes("retry")) {
      const answer = await person.question("Is it mended? yes, or Enter to skip: ");
      if (answer === "yes") console.log((await operate.retry(workflowId, { code, subject, note: "mended" })).message);
    }
  }
}
person.close();
await connection.close();
