import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { CORRECTION_FLAG, CREDIT_NOTE_FLAG, operateOne } from "./operate.ts";
import { type ManyFlags, operateMany, requireOneWay, withMany } from "./operate-many.ts";
import { parseInvoice, parseText, withScope } from "./scope.ts";

export function registerCancel(sale: Command, context: CliContext): void {
  withScope(
    withMany(
      sale
        .command("cancel")
        .description("Cancel a sale, as long as no document is in flight or signed: one, or all that a query finds.")
        .argument("[invoice]", "the sale's number", parseInvoice)
        .requiredOption("--reason <text>", "why", parseText)
        .option(...CREDIT_NOTE_FLAG)
        .option(...CORRECTION_FLAG),
      "open",
    ),
  )
    .addHelpText(
      "after",
      `
On a document in flight it is kept as a wish; a completed sale is reversed by \`sale refund\`.

Examples:
  fiscalflow sale cancel INV-1001 --reason 'customer left'
  fiscalflow sale cancel --query "FiscalAttention = 'item-unknown'" --reason 'a test till' --dry-run`,
    )
    .action(async (invoice: string | undefined, flags: ManyFlags & { reason: string }) => {
      requireOneWay(context, invoice, flags);
      const { query, reason } = flags;
      if (invoice !== undefined)
        await operateOne(context, invoice, flags, (operate, id) => operate.cancel(id, { reason }));
      else if (query !== undefined)
        await operateMany(
          context,
          { ...flags, query },
          { verb: "cancel", done: "cancelled", of: "open" },
          (operate, id) => operate.cancel(id, { reason }),
        );
    });
}
