import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { requestOf } from "../update-options.ts";
import { answerCommand, type ManyFlags, operateOneOrMany } from "./operate-many.ts";

export function registerCancel(sale: Command, context: CliContext): void {
  answerCommand(sale, "cancel", {
    description:
      "Cancel a sale, or its refund, as long as no document is in flight or signed: one, or all that a query finds.",
    help: `On a document in flight it is kept as a wish; a completed sale is reversed by \`sale refund\`. A sale whose refund is cancelled is
completed as before, and can be refunded again.

Examples:
  fiscalflow sale cancel INV-1001 --reason 'customer left'
  fiscalflow sale cancel --query "FiscalAttention = 'item-unknown'" --reason 'a test till' --dry-run`,
    many: true,
  }).action(async (invoice: string | undefined, flags: ManyFlags) => {
    const request = requestOf("cancel", flags);
    await operateOneOrMany(context, invoice, flags, { verb: "cancel", done: "cancelled" }, (operate, id) =>
      operate.cancel(id, request),
    );
  });
}
