import { MAIN_TASK_QUEUE, WORKFLOW_TYPES } from "../../contract/index.ts";
import type { DemoStack } from "./start-demo-stack.ts";

const NUMBER = "DUKA-2001";

/** What a person can do with a demo that is left running, in commands that can be copied. */
export function howToGoOn({ plan, temporal, simulator, starter, environment: services }: DemoStack): string {
  const { businessId, scenario } = plan;
  const address = temporal.connectionOptions.address ?? "localhost:7233";
  const environment = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...services,
  };
  const [first] = plan.examples.filter(({ input }) => input.lines !== undefined);
  const sale = JSON.stringify({ ...first?.input, traderInvoiceNumber: NUMBER, businessId });
  const workflowId = starter.workflowId({ invoice: NUMBER });
  const nextBatch = scenario.accounting.syncBatches.at(1);
  return [
    "Everything is left running until Ctrl-C. To start another sale from another terminal:",
    "",
    ...Object.entries(environment).map(([name, value]) => `  export ${name}=${quoted(String(value))}`),
    `  echo ${quoted(sale)} | npx fiscalflow sale start - --wait`,
    "",
    "or to do what the back office did:",
    "",
    "  npx fiscalflow items register --wait",
    "  npx fiscalflow purchases sync --wait",
    "  npx fiscalflow bill-payments sync --wait",
    ...(nextBatch ? [`  npx fiscalflow batch process ${quoted(nextBatch.id)} --wait`] : []),
    "  npx fiscalflow reconcile --wait",
    "  npx fiscalflow report day",
    "  npx fiscalflow ledger verify",
    "",
    "or to start the sale with Temporal's own command:",
    "",
    `  temporal workflow start --address ${address} --namespace ${temporal.namespace} \\`,
    `    --task-queue ${MAIN_TASK_QUEUE} --type ${WORKFLOW_TYPES.sale} --workflow-id ${quoted(workflowId)} \\`,
    `    --id-reuse-policy RejectDuplicate --input ${quoted(sale)}`,
    ...(temporal.uiUrl === undefined ? [] : ["", `Temporal's UI: ${temporal.uiUrl}`]),
    `The simulator's books: ${simulator.url}/_simulator/books`,
  ].join("\n");
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
