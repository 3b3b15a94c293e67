import type { WorkflowExecutionInfo } from "@temporalio/client";
import { type Command, Option } from "commander";

import { nairobiTime, SEARCH_ATTRIBUTES, STAGES } from "../../contract/index.ts";
import { wholeNumber } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import { attributesOf } from "../list-executions.ts";
import { plainTable } from "../plain-table.ts";
import { type ResultFlags, type Scope, withFilters } from "./scope.ts";
import { visibilityQuery } from "./visibility-query.ts";

const DEFAULT_LIMIT = 50;

interface ListFlags extends Scope, ResultFlags {
  attention?: boolean;
  stage?: string;
  limit: number;
}

interface ListedSale {
  invoice: string;
  business: string | null;
  type: string;
  stage: string | null;
  attention: string | null;
  saleId: string | null;
  open: boolean;
  startedAt: string;
  workflowId: string;
}

export function registerList(sale: Command, context: CliContext): void {
  withFilters(
    sale
      .command("list")
      .description("List the newest sales, open and closed; with --attention, all that need an operator.")
      .option("--attention", "only sales and credit notes that need an operator")
      .addOption(new Option("--stage <stage>", "only sales at this stage").choices(STAGES))
      .option("--limit <number>", "maximum number of results", wholeNumber(1, 100_000), DEFAULT_LIMIT),
  )
    .addHelpText(
      "after",
      `
The list is Temporal's, and follows the sales by a second or so. Synchronisations and other work that is no sale: fiscalflow jobs list.

Example:
  fiscalflow sale list --attention --business biz_1`,
    )
    .action((flags: ListFlags) => listSales(context, flags));
}

async function listSales(context: CliContext, flags: ListFlags): Promise<void> {
  const { listExecutions } = await import("../list-executions.ts");
  const query = visibilityQuery({ ...flags, creditNotes: flags.attention === true });
  const { limit, json } = flags;
  await listExecutions(context, { query, limit, json }, listed, table);
}

function listed(execution: WorkflowExecutionInfo): ListedSale {
  const { workflowId, type, status, startTime } = execution;
  const attributes = attributesOf(execution);
  const { invoice, business, stage, attention, saleId } = SEARCH_ATTRIBUTES;
  return {
    invoice: attributes.get(invoice) ?? workflowId,
    business: attributes.get(business) ?? null,
    type,
    stage: attributes.get(stage) ?? null,
    attention: attributes.get(attention) ?? null,
    saleId: attributes.get(saleId) ?? null,
    open: status.name === "RUNNING",
    startedAt: startTime.toISOString(),
    workflowId,
  };
}

function table(sales: readonly ListedSale[]): string {
  const head = ["NUMBER", "BUSINESS", "STAGE", "NEEDS AN OPERATOR", "DOCUMENT", "STARTED"];
  const rows = sales.map(({ invoice, business, type, stage, open, attention, saleId, startedAt }) => {
    const number = type === "sale" ? invoice : `${invoice} (credit note)`;
    const where = `${stage ?? "-"}${open ? "" : " (closed)"}`;
    return [number, business ?? "-", where, attention ?? "-", saleId ?? "-", nairobiTime(Date.parse(startedAt))];
  });
  return plainTable(head, rows);
}
