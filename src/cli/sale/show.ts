import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import { creditNoteOf } from "./credit-note-of.ts";
import { renderState } from "./render-state.ts";
import { parseInvoice, type ResultFlags, type Scope, withScope } from "./scope.ts";

export function registerShow(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("show")
      .description("Show where a sale stands, and the commands that mend what needs a person.")
      .argument("<invoice>", "the sale's number", parseInvoice),
  )
    .addHelpText(
      "after",
      `
Example:
  fiscalflow sale show INV-1001

A sale whose workflow Temporal has deleted, its retention having passed, is shown from the ledger, which the worker asks; --json says so
in "source".`,
    )
    .action((invoice: string, flags: Scope & ResultFlags) => showSale(context, invoice, flags));
}

async function showSale(context: CliContext, invoice: string, flags: Scope & ResultFlags): Promise<void> {
  const { withSales } = await import("./with-sales.ts");
  await withSales(context, async (sales) => {
    const key = sales.keyOf(invoice, flags);
    const { connection, businessId } = key;
    const { starter } = sales;
    const state = await starter.state(key);
    const note = await creditNoteOf(sales, key, state);
    const target = { ...flags, invoice };
    const title = `Sale ${invoice} of ${businessId} (connection ${connection})`;
    const pages = [renderState(title, starter.workflowId(key), state, target)];
    if (note) {
      const noteTitle = `Credit note ${note.state.document?.traderInvoiceNumber ?? ""}`.trimEnd();
      pages.push(renderState(noteTitle, note.workflowId, note.state, { ...target, creditNote: true }));
    }
    const data = { ...state, ...(note && { creditNoteState: note.state }) };
    printResult(context, flags.json, data, pages.join("\n\n"));
  });
}
