import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { type Command, Option } from "commander";

import { CLOSED_STATUSES, nairobiTime, STAGES } from "../../contract/index.ts";
import { wholeNumber } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import { plainTable } from "../plain-table.ts";
import { age, money } from "../report/money.ts";
import type { ListedSale } from "./listed-sales.ts";
import { type ResultFlags, type Scope, withFilters } from "./scope.ts";
import { visibilityQuery } from "./visibility-query.ts";

const DEFAULT_LIMIT = 50;

interface ListFlags extends Scope, ResultFlags {
  attention?: boolean;
  ended?: boolean;
  stage?: string;
  limit: number;
}

export function registerList(sale: Command, context: CliContext): void {
  withFilters(
    sale
      .command("list")
      .description("List sales: open ones first, then closed ones, the latest of each first.")
      .option("--attention", "only open sales that need an operator")
      .addOption(
        new Option(
          "--ended",
          "only sales whose workflow was terminated, failed or timed out: nothing carries them on",
        ).conflicts("attention"),
      )
      .addOption(new Option("--stage <stage>", "only sales at this stage").choices(STAGES))
      .option("--limit <number>", "maximum number of results", wholeNumber(1, 100_000), DEFAULT_LIMIT),
  )
    .addHelpText(
      "after",
      `
Above it stands what is wrong with the API, and since when, as the sales that wait for it have met it.
With --attention, it also says how many workflows ended without an outcome and are to be restarted.
The list is Temporal's, and follows the sales by a second or so. Amount and buyer are those that the sale was started with;
of a sale that was started without lines, the amount is its document's.
Synchronisations and other work that is no sale: fiscalflow jobs list.

Examples:
  fiscalflow sale list --attention --business biz_1
  fiscalflow sale list --ended`,
    )
    .action((flags: ListFlags) => listSales(context, flags));
}

async function listSales(context: CliContext, flags: ListFlags): Promise<void> {
  const { listExecutions } = await import("../list-executions.ts");
  const { listedSales } = await import("./listed-sales.ts");
  const { attention = false, ended = false, limit, json } = flags;
  const query = visibilityQuery(flags);
  const listed = (executions: readonly WorkflowExecutionInfo[], client: Client): Promise<ListedSale[]> =>
    listedSales(executions, client, { refused: !ended });
  const { serviceTroubles, troubleLine } = await import("./service-troubles.ts");
  const { endedLine } = await import("./ended-line.ts");
  const remarks = async (client: Client): Promise<string[]> => {
    const [troubles, toRestart] = await Promise.all([
      serviceTroubles(client, flags),
      attention ? endedLine(client, flags) : undefined,
    ]);
    return [...troubles.map(troubleLine), ...(toRestart === undefined ? [] : [toRestart])];
  };
  const { noWorkflowsOf } = await import("../../starter/list-attention.ts");
  const { business, stage } = flags;
  const ofNone = business === undefined ? undefined : (client: Client) => noWorkflowsOf(client, business);
  // An open workflow has one run.
  const hasRunsBeside = !attention || stage !== undefined;
  await listExecutions(
    context,
    { query, limit, json, hasRunsBeside, ofNone },
    listed,
    (sales) => table(sales, Date.now()),
    remarks,
  );
}

function table(sales: readonly ListedSale[], nowMs: number): string {
  const head = ["NUMBER", "BUSINESS", "STAGE", "WAITS FOR", "BUYER", "AMOUNT", "DOCUMENT", "STARTED", "AGE"];
  const rows = sales.map((sale) => {
    const { invoice, business, waitsFor, buyer, amount, saleId, startedAt } = sale;
    const startedAtMs = Date.parse(startedAt);
    return [
      invoice,
      business ?? "-",
      whereOf(sale),
      waitsFor,
      buyer ?? "-",
      amount === null ? "-" : money(amount),
      saleId ?? "-",
      nairobiTime(startedAtMs),
      age(startedAtMs, nowMs),
    ];
  });
  return plainTable(head, rows, [head.indexOf("AMOUNT")]);
}

function whereOf({ stage, signedBefore, status, creditNote }: ListedSale): string {
  // Where the new run stands would contradict the ledger, in which the document stays signed.
  if (signedBefore) return "signed (being picked up again)";
  const by = creditNote === null ? "" : ` by ${creditNote}`;
  const how = status === "running" ? "" : ` (${status in CLOSED_STATUSES ? status : "finished"})`;
  return `${stage ?? "-"}${by}${how}`;
}
