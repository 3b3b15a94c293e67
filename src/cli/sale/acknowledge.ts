import { type Command, Option } from "commander";

import { ATTENTION_CODES, type AttentionCode } from "../../contract/index.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { creditNoteCommands } from "./credit-note-of.ts";
import { CORRECTION_FLAG, CREDIT_NOTE_FLAG, operateOne } from "./operate.ts";
import { type ManyFlags, operateMany, requireOneWay, withMany } from "./operate-many.ts";
import { parseInvoice, parseText, withScope } from "./scope.ts";

interface AcknowledgeFlags extends ManyFlags {
  code?: AttentionCode;
  note: string;
  subject?: string;
}

export function registerAcknowledge(sale: Command, context: CliContext): void {
  withScope(
    withMany(
      sale
        .command("acknowledge")
        .description("Acknowledge for good what cannot be corrected: for one sale, or for all that a query finds.")
        .argument("[invoice]", "the sale's number", parseInvoice)
        .addOption(new Option("--code <code>", "the attention code to acknowledge").choices(ATTENTION_CODES))
        .requiredOption("--note <text>", "how you know, in a few words", parseText)
        .option("--subject <subject>", "subject, when several attentions share the code")
        .option(...CREDIT_NOTE_FLAG)
        .option(...CORRECTION_FLAG),
      "open",
    ),
  )
    .addHelpText(
      "after",
      `
Examples:
  fiscalflow sale acknowledge INV-1001 --code mismatch --note 'checked on the portal'
  fiscalflow sale acknowledge --query "FiscalAttention = 'stock-unreported'" --code stock-unreported --note 'reported by hand'`,
    )
    .action(async (invoice: string | undefined, flags: AcknowledgeFlags) => {
      requireOneWay(context, invoice, flags);
      const { query, code, note, subject } = flags;
      if (code === undefined) throw await codeIsMissing(context, invoice, flags);
      const request = { code, note, ...(subject !== undefined && { subject }) };
      if (invoice !== undefined)
        await operateOne(context, invoice, flags, (operate, id) => operate.acknowledge(id, request));
      else if (query !== undefined)
        await operateMany(
          context,
          { ...flags, query },
          { verb: "acknowledge", done: "acknowledged", of: "open" },
          (operate, id) => operate.acknowledge(id, request),
        );
    });
}

/** With the commands that would do: which attentions a sale has, only `sale show` would tell otherwise. */
async function codeIsMissing(
  context: CliContext,
  invoice: string | undefined,
  flags: AcknowledgeFlags,
): Promise<UsageError> {
  const missing = "Give --code, the attention code to acknowledge";
  if (invoice === undefined || flags.creditNote === true || flags.correction === true)
    return new UsageError(`${missing}.`);
  const { withSales } = await import("./with-sales.ts");
  const { resolvingCommands } = await import("./resolving-commands.ts");
  return await withSales(context, async (sales) => {
    const { attentions } = await sales.starter.getSale(sales.keyOf(invoice, flags));
    const commands = attentions
      .flatMap((one) =>
        resolvingCommands(
          { ...one, resolvedBy: one.resolvedBy.filter((update) => update === "acknowledge") },
          { ...flags, invoice },
        ),
      )
      .map((command) => `\n  ${command}`);
    if (commands.length === 0) {
      const none = `${missing}. The sale ${invoice} has none that can be acknowledged.`;
      return new UsageError([none, ...(await creditNoteCommands(sales, { ...flags, invoice }))].join("\n"));
    }
    return new UsageError(`${missing}:${commands.join("")}`);
  });
}
