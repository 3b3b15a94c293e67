import { type Command, Option } from "commander";

import { ATTENTION_CODES, type AttentionCode } from "../../contract/index.ts";
import type { CliContext } from "../context.ts";
import { CREDIT_NOTE_FLAG, operateOne } from "./operate.ts";
import { type ManyFlags, operateMany, requireOneWay } from "./operate-many.ts";
import { parseInvoice, parseText, withScope } from "./scope.ts";

interface AcknowledgeFlags extends ManyFlags {
  code: AttentionCode;
  note: string;
  subject?: string;
}

export function registerAcknowledge(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("acknowledge")
      .description("Take note, for good, of what cannot be mended; of one sale, or of all that a query finds.")
      .argument("[invoice]", "the sale's number", parseInvoice)
      .addOption(new Option("--code <code>", "what is taken note of").choices(ATTENTION_CODES).makeOptionMandatory())
      .requiredOption("--note <text>", "how you know, in a few words", parseText)
      .option("--subject <subject>", "where several carry the code: which of them")
      .option("--query <query>", "all open sales and credit notes that Temporal finds by this filter")
      .option(...CREDIT_NOTE_FLAG),
  )
    .addHelpText(
      "after",
      `
Examples:
  fiscalflow sale acknowledge INV-1001 --code mismatch --note 'checked on the portal'
  fiscalflow sale acknowledge --query "FiscalAttention = 'stock-unreported'" --code stock-unreported --note 'reported by hand'`,
    )
    .action(async (invoice: string | undefined, flags: AcknowledgeFlags) => {
      requireOneWay(invoice, flags);
      const { query, code, note, subject } = flags;
      const request = { code, note, ...(subject !== undefined && { subject }) };
      if (invoice !== undefined)
        await operateOne(context, invoice, flags, (operate, id) => operate.acknowledge(id, request));
      else if (query !== undefined)
        await operateMany(context, { ...flags, query }, "acknowledged", (operate, id) =>
          operate.acknowledge(id, request),
        );
    });
}
