import type { Command } from "commander";

import { help } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import { parseInvoice, type ResultFlags, type Scope, withScope } from "../sale/scope.ts";
import { type FormatFlags, withFormats } from "../written-output.ts";

export const RECEIPT_FORMATS = ["text", "escpos", "html", "pdf", "original", "json"] as const;

export type ReceiptFormat = (typeof RECEIPT_FORMATS)[number];

export interface ReceiptFlags extends Scope, ResultFlags, FormatFlags<ReceiptFormat> {
  creditNote?: boolean;
}

export function registerReceipt(program: Command, context: CliContext): void {
  const command = program
    .command("receipt")
    .description("Print the receipt of a sale or a credit note, or download the API's own.")
    .argument("<invoice>", "the sale's number, or a credit note's own", parseInvoice)
    .option("--credit-note", "the sale's credit note is meant, not the sale");
  withScope(withFormats(command, RECEIPT_FORMATS))
    .addHelpText(
      ...help(
        `Formats: text (42 columns), escpos (for a receipt printer of 80 mm), html, pdf, original (the API's own file), json (the signed
values alone). What the tax authority has not signed is printed as provisional.`,
        "fiscalflow receipt INV-1001 --out INV-1001.pdf",
        "fiscalflow receipt INV-1001 --format escpos > /dev/usb/lp0",
      ),
    )
    .action(async (invoice: string, flags: ReceiptFlags) =>
      (await import("./receipt.ts")).receipt(context, invoice, flags),
    );
}
