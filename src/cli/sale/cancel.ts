import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { CREDIT_NOTE_FLAG, operateOne, type OperatorFlags } from "./operate.ts";
import { parseInvoice, parseText, withScope } from "./scope.ts";

export function registerCancel(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("cancel")
      .description("Cancel a sale, as long as no document is in flight or signed.")
      .argument("<invoice>", "the sale's number", parseInvoice)
      .requiredOption("--reason <text>", "why", parseText)
      .option(...CREDIT_NOTE_FLAG),
  )
    .addHelpText(
      "after",
      `
On a document in flight it is kept as a wish; a completed sale is reversed by \`sale refund\`.

Example:
  fiscalflow sale cancel INV-1001 --reason 'customer left'`,
    )
    .action((invoice: string, flags: OperatorFlags & { reason: string }) =>
      operateOne(context, invoice, flags, (operate, id) => operate.cancel(id, { reason: flags.reason })),
    );
}
