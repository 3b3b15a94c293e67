import { MAIN_TASK_QUEUE, WORKFLOW_TYPES } from "../../contract/index.ts";
import { demoEnvironment } from "./demo-config.ts";
import type { DemoStack } from "./start-demo-stack.ts";

const NUMBER = "DUKA-2001";

/** What a person can do with a demo that is left running, in commands that can be copied. */
export function howToGoOn({ plan, temporal, simulator, starter }: DemoStack): string {
  const { apiKey, businessId } = plan;
  const address = temporal.connectionOptions.address ?? "localhost:7233";
  const environment = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...demoEnvironment({ simulatorUrl: simulator.url, apiKey, businessId }),
  };
  const [first] = plan.examples.filter(({ input }) => input.lines !== undefined);
  const sale = JSON.stringify({ ...first?.input, traderInvoiceNumber: NUMBER, businessId });
  const workflowId = starter.workflowId({ invoice: NUMBER });
  return [
    "Everything is left running until Ctrl-C. To start another sale from another terminal:",
    "",
    ...Object.entries(environment).map(([name, value]) => `  export ${name}=${quoted(String(value))}`),
    `  echo ${quoted(sale)} | npx fiscalflow sale start - --wait`,
    "",
    "or with Temporal's own command:",
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
