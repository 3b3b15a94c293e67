import type { Command } from "commander";

import { CommandFailedError, UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import { creditNoteOf } from "../sale/credit-note-of.ts";
import { CREDIT_NOTE_FLAG } from "../sale/operate.ts";
import { receiptLines } from "../sale/render-document.ts";
import { parseInvoice, parseText, type ResultFlags, type Scope, withScope } from "../sale/scope.ts";

interface ReceiptFlags extends Scope, ResultFlags {
  original?: boolean;
  out?: string;
  force?: boolean;
  creditNote?: boolean;
}

export function registerReceipt(program: Command, context: CliContext): void {
  withScope(
    program
      .command("receipt")
      .description("Show what the tax authority signed for a sale, or download the service's own receipt.")
      .argument("<invoice>", "the sale's number", parseInvoice)
      .option("--original", "download the service's own receipt to a file")
      .option("--out <file>", "the file to write (default: named for the sale, in the working directory)", parseText)
      .option("--force", "replace the file if it exists")
      .option(...CREDIT_NOTE_FLAG),
  )
    .addHelpText(
      "after",
      `
The API's document names the download without showing it: the connection's dialect must describe it under receiptDownload.

Examples:
  fiscalflow receipt INV-1001
  fiscalflow receipt INV-1001 --original --out INV-1001.pdf`,
    )
    .action((invoice: string, flags: ReceiptFlags) => receipt(context, invoice, flags));
}

async function receipt(context: CliContext, invoice: string, flags: ReceiptFlags): Promise<void> {
  if (flags.original === true) {
    const { downloadOriginal } = await import("./download-original.ts");
    const file = await downloadOriginal(context, flags, { ...flags, invoice, saleId: () => signed().then(idOf) });
    printResult(context, flags.json, file, `${file.file}: ${file.contentType ?? "unknown type"}, ${file.bytes} bytes`);
    return;
  }
  if (flags.out !== undefined || flags.force === true)
    throw new UsageError("--out and --force belong to a download: add --original.");
  const document = await signed();
  printResult(context, flags.json, document.receipt, receiptLines(document.receipt).join("\n"));

  /**
   * The document, with what was signed. @throws CommandFailedError where nothing was, or where there is no credit note
   */
  async function signed() {
    const { withSales } = await import("../sale/with-sales.ts");
    const isNote = flags.creditNote === true;
    const { document, stage } = await withSales(context, async (sales) => {
      const key = sales.keyOf(invoice, flags);
      const state = await sales.starter.state(key);
      if (!isNote) return state;
      const note = (await creditNoteOf(sales, key, state))?.state;
      if (!note && !state.creditNote) throw new CommandFailedError(`The sale ${invoice} has no credit note.`);
      return note ?? { document: state.creditNote, stage: state.stage };
    });
    if (document?.receipt) return { ...document, receipt: document.receipt };
    const what = isNote ? `credit note of the sale ${invoice}` : `sale ${invoice}`;
    throw new CommandFailedError(
      `The ${what} has no receipt yet: the tax authority has not signed it (stage ${stage}). See: fiscalflow sale show ${invoice}`,
    );
  }
}

function idOf({ id }: { id: string }): string {
  return id;
}
