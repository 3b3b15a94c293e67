import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { type FormatFlags, withFormats } from "../format.ts";
import { parseInvoice, parseText, type ResultFlags, type Scope, withScope } from "../sale/scope.ts";

const FORMATS = ["text", "escpos", "html", "pdf"] as const;

export type ReceiptFormat = (typeof FORMATS)[number];

export interface ReceiptFlags extends Scope, ResultFlags, FormatFlags<ReceiptFormat> {
  seller?: string;
  sellerPin?: string;
  sellerAddress?: string;
  /** The font's file. */
  font?: string;
  original?: boolean;
  creditNote?: boolean;
}

export function registerReceipt(program: Command, context: CliContext): void {
  withScope(
    withFormats(
      program
        .command("receipt")
        .description("Print the receipt of a sale or a credit note, or download the API's own.")
        .argument("<invoice>", "the sale's number, or a credit note's own", parseInvoice),
      FORMATS,
    )
      .option("--credit-note", "the sale's credit note is meant, not the sale")
      .option(
        "--seller <name>",
        "the seller's name, which no signed value has (default: as COMPLIANCE_SELLERS says)",
        parseText,
      )
      .option("--seller-pin <pin>", "the seller's PIN", parseText)
      .option("--seller-address <text>", "the seller's address; a line break begins a new line", parseText)
      .option("--font <file>", "a TrueType or OpenType font for a PDF with letters beyond Western Europe's", parseText)
      .option("--original", "download the API's own receipt to a file"),
  )
    .addHelpText(
      "after",
      `
Formats: text (42 columns), escpos (for a receipt printer of 80 mm, with its QR code), html, pdf. What the tax authority has not
signed is printed as provisional. --json prints the signed values alone.
The API's document names the download without showing it: the connection's dialect must describe it under receiptDownload.

Examples:
  fiscalflow receipt INV-1001
  fiscalflow receipt INV-1001 --format pdf --out INV-1001.pdf --seller 'Duka Moja Ltd' --seller-pin P051234567Z
  fiscalflow receipt INV-1001 --credit-note
  fiscalflow receipt CN-17
  fiscalflow receipt INV-1001 --format escpos > /dev/usb/lp0
  fiscalflow receipt INV-1001 --original --out INV-1001.pdf`,
    )
    .action(async (invoice: string, flags: ReceiptFlags) =>
      (await import("./receipt.ts")).receipt(context, invoice, flags),
    );
}
