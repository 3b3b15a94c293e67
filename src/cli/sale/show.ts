import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import { withDocuments } from "./correction-documents.ts";
import { correctedByIt, correctionLines } from "./render-correction.ts";
import { renderState } from "./render-state.ts";
import { orCreditNoteHint, showCommand } from "./command-lines.ts";
import { parseInvoice, type ResultFlags, type Scope, withScope } from "./scope.ts";

export function registerShow(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("show")
      .description("Show where a sale stands, and the commands that resolve what needs an operator.")
      .argument("<invoice>", "the sale's number", parseInvoice)
      .option("--web", "print the link to its workflow in Temporal's UI, and open it where there is a browser"),
  )
    .addHelpText(
      "after",
      `
Example:
  fiscalflow sale show INV-1001

A sale whose workflow Temporal has deleted, its retention having passed, is shown from the ledger, which the worker asks; --json says so
in "source".`,
    )
    .action((invoice: string, flags: ShowFlags) => showSale(context, invoice, flags));
}

interface ShowFlags extends Scope, ResultFlags {
  web?: boolean;
}

async function showSale(context: CliContext, invoice: string, flags: ShowFlags): Promise<void> {
  const { withSales } = await import("./with-sales.ts");
  const { readTimeline, timelinePage, withAllCallbacks } = await import("./timeline/show-timeline.ts");
  const { withFleetTrouble } = await import("./service-troubles.ts");
  const { correctionIn } = await import("../../starter/correct.ts");
  await withSales(context, async (sales) => {
    const key = sales.keyOf(invoice, flags);
    const { connection, businessId } = key;
    const { starter } = sales;
    if (flags.web === true)
      return await (await import("./show-web.ts")).showInBrowser(context, starter.workflowId(key), flags.json);
    const known = await starter.getSale(key).catch(orCreditNoteHint(invoice, showCommand("INVOICE", flags)));
    const state = await withFleetTrouble(sales.client, connection, known);
    const target = { ...flags, invoice };
    const title = `Sale ${invoice} of ${businessId} (connection ${connection})`;
    const timeline = await readTimeline(sales.client, starter.workflowId(key));
    const counted = withAllCallbacks(state, timeline);
    const pages = [renderState(title, starter.workflowId(key), counted, target)];
    const corrects = await correctedByIt(sales, key, state);
    if (corrects !== undefined) pages.push(`Corrects ${corrects}: see ${showCommand(corrects, flags)}`);
    const correction = correctionIn(state, { workflowId: starter.workflowId(key), invoice });
    const shown = correction && (await withDocuments(sales, key, correction, state));
    if (shown) pages.push(correctionLines(shown, target).join("\n"));
    if (timeline) pages.push(timelinePage(timeline));
    const data = {
      ...counted,
      ...(shown && { correction: shown }),
      ...(corrects !== undefined && { corrects }),
      ...(timeline && { timeline }),
    };
    printResult(context, flags.json, data, pages.join("\n\n"));
  });
}
