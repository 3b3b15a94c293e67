import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { receiptEscPos, receiptHtml, receiptPdf, receiptText } from "../../receipt/index.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printNote, written } from "../output.ts";
import { refuseExisting, withWholeFile } from "../whole-file.ts";
import type { PrintedDocument } from "./document-of.ts";
import type { PrintPlan } from "./print-flags.ts";

/**
 * Prints the receipt, or writes it to a file.
 * @param read asked for the document once it is known that the result can be written
 * @throws UsageError where the file exists already or cannot be written, or where the font cannot be read
 */
export async function printReceipt(
  context: CliContext,
  plan: PrintPlan,
  read: () => Promise<PrintedDocument>,
): Promise<void> {
  const { out, force } = plan;
  if (out !== undefined && !force) await refuseExisting(out);
  const font = plan.font === undefined ? undefined : await fontOf(plan.font);
  if (out === undefined) {
    await written(context, await rendered(await read(), plan, font));
    return;
  }
  const file = resolve(out);
  await withWholeFile(file, async (whole) => {
    await whole.append(await rendered(await read(), plan, font));
    await whole.keepAs(file, { force });
  });
  printNote(context, `Written to ${out}.`);
}

async function rendered(
  { document, options: itsOptions }: PrintedDocument,
  { format, seller }: PrintPlan,
  font: Uint8Array | undefined,
): Promise<string | Uint8Array> {
  const options = { ...itsOptions, ...(seller && { seller }) };
  switch (format) {
    case "text":
      return receiptText(document, options);
    case "escpos":
      return receiptEscPos(document, options);
    case "html":
      return receiptHtml(document, options);
    case "pdf":
      return await receiptPdf(document, { ...options, ...(font && { font }) }).catch((error: unknown) => {
        // Without a font of somebody's own, nothing in a document makes it fail.
        if (!font) throw error;
        throw new UsageError("The file of --font is not a font that a PDF can hold. Give a .ttf or .otf file.", {
          cause: error,
        });
      });
  }
}

async function fontOf(file: string): Promise<Uint8Array> {
  return await readFile(file).catch((error: unknown) => {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new UsageError(`The font ${file} cannot be read (${reason}).`, { cause: error });
  });
}
