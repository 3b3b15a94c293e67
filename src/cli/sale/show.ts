import { type Command } from "commander";

import { creditNoteWorkflowId, STATE_QUERY, type WorkflowState } from "../../contract/index.ts";
import type { CliContext } from "../context.ts";
import type { SaleState } from "../../starter/index.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import { printResult } from "../print-result.ts";
import { renderState } from "./render-state.ts";
import { parseInvoice, type ResultFlags, type Scope, withScope } from "./scope.ts";
import type { Sales } from "./with-sales.ts";

export function registerShow(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("show")
      .description("Where a sale stands, and the commands that mend what needs a person.")
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

/**
 * A credit note needs a person by itself, in its own workflow; after the refund window the sale does not know of it. It may outlive the
 * sale's workflow; once it is gone too, the ledger tells of it.
 */
async function creditNoteOf(
  { client }: Sales,
  key: BusinessScope,
  state: SaleState,
): Promise<{ workflowId: string; state: SaleState } | undefined> {
  const { WorkflowNotFoundError } = await import("@temporalio/client");
  const { answeredInTime } = await import("../../starter/index.ts");
  const saleId = state.document?.id;
  if (state.stage !== "completed" && state.stage !== "crediting" && state.stage !== "credited") return undefined;
  const workflowId =
    state.creditNoteWorkflowId ?? (saleId === undefined ? undefined : creditNoteWorkflowId({ ...key, saleId }));
  if (workflowId === undefined) return undefined;
  try {
    const handle = client.workflow.getHandle(workflowId);
    const noteState = await answeredInTime(client, workflowId, () => handle.query<WorkflowState>(STATE_QUERY));
    return { workflowId, state: { ...noteState, source: "workflow" } };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    const kept = state.source === "ledger" ? state.creditNoteState : undefined;
    return kept && { workflowId, state: kept };
  }
}
