/**
 * Finds what needs an operator, and passes the operator's answers on.
 *
 * First: `npm run demo -- --keep`, the `export` lines that it prints, and a sale that nobody can carry on by itself:
 *   echo '{"traderInvoiceNumber":"DUKA-3002","lines":[{"sku":"NO-SUCH","quantity":1,"unitPrice":60}]}' |
 *     npx fiscalflow sale start - --wait
 * Prints: sale/default/biz_demo/DUKA-3002: item-unknown, <what happened>
 * Then it asks on the terminal what to answer. An empty line, or the end of the input, leaves the rest as it is.
 */
import { createInterface } from "node:readline/promises";
import { createStarter, FiscalflowError } from "@fiscalflow/client";
import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";

const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const starter = createStarter({ client: new Client({ connection, namespace }) });
const operator = createInterface({ input: process.stdin, output: process.stdout });
const inputEnded = new Promise<string>((resolve) => void operator.once("close", () => resolve("")));
const ask = (question: string): Promise<string> =>
  Promise.race([inputEnded, operator.question(question).catch(() => "")]);

for await (const { workflowId, code, subject, message, updates } of starter.listAttention()) {
  console.log(`${workflowId}: ${code}, ${message}`);
  for (const { update, input } of updates) console.log(`  ${update} ${JSON.stringify(input)}`);
  try {
    if (code === "stock-unknown" && subject !== undefined) {
      const answer = await ask(`Has the API made the movement ${subject}? yes, no, or Enter to skip: `);
      const resolution = { referenceId: subject, applied: answer === "yes", note: "looked up in the stock journal" };
      if (answer === "yes" || answer === "no")
        console.log((await starter.resolveStock({ workflowId }, resolution)).message);
    } else if (updates.some(({ update }) => update === "retry")) {
      const answer = await ask("Is it corrected? yes, or Enter to skip: ");
      if (answer === "yes")
        console.log((await starter.retry({ workflowId }, { code, subject, note: "corrected" })).message);
    }
  } catch (error) {
    // It was resolved meanwhile, or by somebody else: the message says what is true now.
    if (!(error instanceof FiscalflowError && (error.code === "NotAllowed" || error.code === "NotFound"))) throw error;
    console.log(error.message);
  }
}
operator.close();
await connection.close();
