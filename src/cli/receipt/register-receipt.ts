import type { Command } from "commander";

import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { withFormats } from "../format.ts";
import { printNote, printResult } from "../output.ts";
import { parseInvoice, parseText, type ResultFlags, type Scope, withScope } from "../sale/scope.ts";
import { FORMATS, type PrintFlags } from "./print-flags.ts";

export interface ReceiptFlags extends Scope, ResultFlags, PrintFlags {
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
    .action((invoice: string, flags: ReceiptFlags) => receipt(context, invoice, flags));
}

async function receipt(context: CliContext, invoice: string, flags: ReceiptFlags): Promise<void> {
  const { printPlan } = await import("./print-flags.ts");
  const { documentOf, signedDocumentOf } = await import("./document-of.ts");
  if (flags.original === true) {
    if (flags.format !== undefined || flags.seller !== undefined || flags.font !== undefined)
      throw new UsageError("--original is the API's own file: leave --format, --seller and --font out.");
    const { downloadOriginal } = await import("./download-original.ts");
    const saleId = async () => (await signedDocumentOf(context, invoice, flags)).id;
    const file = await downloadOriginal(context, flags, { ...flags, invoice, saleId });
    printResult(context, flags.json, file, `${file.file}: ${file.contentType ?? "unknown type"}, ${file.bytes} bytes`);
    return;
  }
  const asked = printPlan(flags, context.stdout.isTTY === true);
  if (flags.json === true) {
    const { receipt: values } = await signedDocumentOf(context, invoice, flags);
    printResult(context, true, values, "");
    return;
  }
  const { printReceipt } = await import("./print-receipt.ts");
  const { loadConfig } = await import("../../config/index.ts");
  const { configuredSeller } = await import("../report/asked.ts");
  const { businessOf } = await import("../jobs/business-of.ts");
  const config = loadConfig({ env: context.env });
  const plan = { ...asked, seller: asked.seller ?? configuredSeller(config)(businessOf(config, flags)) };
  await printReceipt(context, plan, () => documentOf(context, invoice, flags));
  if (!plan.seller)
    printNote(
      context,
      "It lacks the shop's name and PIN, which no signed value contains: give --seller NAME and --seller-pin PIN, or set COMPLIANCE_SELLERS.",
    );
}
