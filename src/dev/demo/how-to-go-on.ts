import { environmentLines } from "../../cli/environment-lines.ts";
import { resolvingCommands } from "../../cli/operate/operating-commands.ts";
import { shellWord } from "../../cli/output.ts";
import { COLUMNS, viewLines, workflowLink } from "../../cli/temporal-ui.ts";
import { MAIN_TASK_QUEUE, WORKFLOW_TYPES } from "../../contract/index.ts";
import type { SaleProgress } from "./sale-progress.ts";
import type { DemoStack } from "./start-demo-stack.ts";

const NUMBER = "DUKA-2001";
/** At the end of a line, in a POSIX shell or in PowerShell: the command goes on in the next one. */
const CONTINUED = process.platform === "win32" ? "`" : "\\";

/** What an operator can do with a demo that is left running, in commands that can be copied. */
export function howToGoOn(stack: DemoStack, sales: readonly SaleProgress[]): string {
  const { plan, temporal, simulator, starter, environment: services } = stack;
  const { businessId, scenario } = plan;
  const address = temporal.connectionOptions.address ?? "localhost:7233";
  const environment = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    TEMPORAL_UI_URL: temporal.uiUrl,
    ...services,
  };
  const [first] = plan.examples.filter(({ input }) => input.lines !== undefined);
  const sale = JSON.stringify({ ...first?.input, traderInvoiceNumber: NUMBER, businessId });
  const workflowId = starter.workflowId({ invoice: NUMBER });
  const nextBatch = scenario.accounting.syncBatches.at(1);
  return [
    "Everything is left running until Ctrl-C. To start another sale from another terminal:",
    "",
    ...environmentLines(environment).map((line) => `  ${line}`),
    `  echo ${shellWord(sale)} | npx fiscalflow sale start - --wait`,
    "",
    ...needingOperator(stack, sales),
    "To do what the back office did:",
    "",
    "  npx fiscalflow items register --wait",
    "  npx fiscalflow purchases sync --wait",
    "  npx fiscalflow bill-payments sync --wait",
    ...(nextBatch ? [`  npx fiscalflow batch process ${shellWord(nextBatch.id)} --wait`] : []),
    "  npx fiscalflow reconcile --wait",
    "  npx fiscalflow report day",
    "  npx fiscalflow ledger verify",
    "",
    "To see how a sale copes with trouble (--help lists what can be triggered):",
    "",
    "  npx fiscalflow simulator trigger rejected",
    "",
    "To start the sale with Temporal's own command:",
    "",
    `  temporal workflow start --address ${address} --namespace ${temporal.namespace} ${CONTINUED}`,
    `    --task-queue ${MAIN_TASK_QUEUE} --type ${WORKFLOW_TYPES.sale} --workflow-id ${shellWord(workflowId)} ${CONTINUED}`,
    `    --id-reuse-policy RejectDuplicate --input ${shellWord(sale)}`,
    "",
    `Temporal's UI: ${temporal.uiUrl ?? "unknown; name it with --ui-url"}. Columns to pin: ${COLUMNS.join(", ")}. Views:`,
    ...viewLines(temporal, Date.now()).map((line) => `  ${line}`),
    `The simulator's page: ${simulator.url}`,
    `The simulator's books: ${simulator.url}/_simulator/books`,
  ].join("\n");
}

/** How to resolve what the examples leave for an operator, in the UI and by a command. */
function needingOperator({ temporal, simulator }: DemoStack, sales: readonly SaleProgress[]): string[] {
  return sales.flatMap(({ example, workflowId, state }) => {
    if (example.expected.attention === undefined) return [];
    return (state?.attentions ?? []).flatMap((attention) => [
      `${example.invoice} needs an operator (${attention.code}). In Temporal's UI, its details say what happened and which update resolves it;`,
      "copy the JSON, and choose More Actions → Send an Update:",
      "",
      `  ${workflowLink(temporal, workflowId) ?? workflowId}`,
      "",
      ...(attention.code === "stock-unknown"
        ? [
            "Whether the movement was applied shows under Stock movements on the simulator's page:",
            "",
            `  ${simulator.url}`,
            "",
          ]
        : []),
      "or by one of these commands:",
      "",
      ...resolvingCommands(attention, { invoice: example.invoice }).map((command) => `  npx ${command}`),
      "",
    ]);
  });
}
