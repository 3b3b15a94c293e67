import type { Command } from "commander";

import type { ResolveDocumentRequest } from "../../contract/index.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { CREDIT_NOTE_FLAG, operateOne, type OperatorFlags } from "./operate.ts";
import { parseInvoice, parseText, withScope } from "./scope.ts";

interface ResolveDocumentFlags extends OperatorFlags {
  sale?: string;
  notCreated?: boolean;
  note: string;
}

export function registerResolveDocument(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("resolve-document")
      .description("Tell what became of a create request whose answer was lost.")
      .argument("<invoice>", "the sale's number", parseInvoice)
      .option("--sale <id>", "the document was created; its id", parseText)
      .option("--not-created", "it was not created; it is created now")
      .requiredOption("--note <text>", "how you know, in a few words", parseText)
      .option(...CREDIT_NOTE_FLAG),
  )
    .addHelpText(
      "after",
      `
Example:
  fiscalflow sale resolve-document INV-1001 --sale sal_1 --note 'found in the dashboard'`,
    )
    .action(async (invoice: string, flags: ResolveDocumentFlags) => {
      const { sale: saleId, notCreated = false, note } = flags;
      if ((saleId === undefined) === !notCreated)
        throw new UsageError("Give exactly one of --sale ID and --not-created.");
      const request: ResolveDocumentRequest = saleId === undefined ? { notCreated: true, note } : { saleId, note };
      await operateOne(context, invoice, flags, (operate, id) => operate.resolveDocument(id, request));
    });
}
