import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { CORRECTION_FLAG, CREDIT_NOTE_FLAG, operateOne } from "./operate.ts";
import { type ManyFlags, operateMany, requireOneWay, withMany } from "./operate-many.ts";
import { parseInvoice, parseText, withScope } from "./scope.ts";

interface RetryFlags extends ManyFlags {
  note?: string;
}

export function registerRetry(sale: Command, context: CliContext): void {
  withScope(
    withMany(
      sale
        .command("retry")
        .description(
          "Retry what needed an operator, after you have corrected it: for one sale, or for all that a query finds.",
        )
        .argument("[invoice]", "the sale's number", parseInvoice)
        .option("--note <text>", "what you corrected", parseText)
        .option(...CREDIT_NOTE_FLAG)
        .option(...CORRECTION_FLAG),
      "open",
    ),
  )
    .addHelpText(
      "after",
      `
Examples:
  fiscalflow sale retry INV-1001
  fiscalflow sale retry --query "FiscalAttention = 'credentials'"`,
    )
    .action(async (invoice: string | undefined, flags: RetryFlags) => {
      requireOneWay(context, invoice, flags);
      const { query, note } = flags;
      const request = note === undefined ? {} : { note };
      if (invoice !== undefined) await operateOne(context, invoice, flags, (operate, id) => operate.retry(id, request));
      else if (query !== undefined)
        await operateMany(context, { ...flags, query }, { verb: "retry", done: "retried", of: "open" }, (operate, id) =>
          operate.retry(id, request),
        );
    });
}
