import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { loadConfig } from "../../config/index.ts";
import type { SaleDocument } from "../../contract/index.ts";
import { receiptEscPos, receiptHtml, receiptPdf, receiptText } from "../../receipt/index.ts";
import { type ReceiptOptions, signedReceipt } from "../../receipt/page.ts";
import type { SaleState } from "../../starter/index.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { formatByEnding, requireOut } from "../format.ts";
import { businessOf, type BusinessScope } from "../jobs/business-of.ts";
import { printNote, printResult, shellWord } from "../output.ts";
import { configuredSeller } from "../report/asked.ts";
import { isNotFound, orCreditNoteHint, scopeFlags, showCommand } from "../sale/command-lines.ts";
import type { Scope } from "../sale/scope.ts";
import { withSales } from "../sale/with-sales.ts";
import { refuseExisting, writeResult, writeWhole } from "../whole-file.ts";
import { withNamedOperation } from "../dialect/named-operations.ts";
import { withLedger } from "../with-ledger.ts";
import type { ReceiptFlags, ReceiptFormat } from "./register-receipt.ts";

const BY_ENDING: Readonly<Record<string, ReceiptFormat>> = {
  ".pdf": "pdf",
  ".html": "html",
  ".htm": "html",
  ".txt": "text",
};

/** Prints the receipt of a sale's number, or of a credit note's own; or downloads the API's. */
export async function receipt(context: CliContext, number: string, flags: ReceiptFlags): Promise<void> {
  const { json, format, out, seller, font, original } = flags;
  if (original) {
    if (format !== undefined || seller !== undefined || font !== undefined)
      throw new UsageError("--original is the API's own file: leave --format, --seller and --font out.");
    await downloadOriginal(context, number, flags);
  } else if (json) {
    if (format !== undefined || out !== undefined || seller !== undefined || font !== undefined)
      throw new UsageError("--json prints the signed values: leave --format, --out, --seller and --font out.");
    requireOut(flags);
    printResult(context, true, (await signedDocumentOf(context, number, flags)).receipt, "");
  } else await printReceipt(context, number, flags);
}

async function printReceipt(context: CliContext, number: string, flags: ReceiptFlags): Promise<void> {
  const { out, seller: name, sellerPin: pin, sellerAddress: address, font } = flags;
  requireOut(flags);
  if (name === undefined && (pin !== undefined || address !== undefined))
    throw new UsageError("--seller-pin and --seller-address belong to --seller.");
  const format = flags.format ?? formatByEnding(out, BY_ENDING);
  if (font !== undefined && format !== "pdf") throw new UsageError("--font belongs to --format pdf.");
  if (context.stdout.isTTY && out === undefined && (format === "pdf" || format === "escpos"))
    throw new UsageError(`A terminal cannot show --format ${format}: add --out FILE, or send the output to a program.`);
  const config = loadConfig({ env: context.env });
  const stated = name === undefined ? undefined : { name, ...(pin && { pin }), ...(address && { address }) };
  const seller = stated ?? configuredSeller(config)(businessOf(config, flags));
  const letters = font === undefined ? undefined : await fontOf(font);
  async function* rendered() {
    const found = await findDocument(context, number, flags);
    const { document: known, stage, isCancelled: cancelled, name: itsName } = found;
    if (!known) throw new CommandFailedError(noReceipt(found, flags, "no document was issued"));
    if (cancelled) printNote(context, `The ${itsName} is cancelled, and not signed: what is printed says so.`);
    else if (!signedReceipt(known))
      printNote(context, `The ${itsName} is not signed (stage ${stage}): what is printed is provisional.`);
    const document = await withItsLines(context, found, known);
    const options = { ...found.reversal, cancelled, ...(seller && { seller }) };
    if (format === "text") yield receiptText(document, options);
    else if (format === "escpos") yield receiptEscPos(document, options);
    else if (format === "html") yield receiptHtml(document, options);
    else
      yield await receiptPdf(document, { ...options, ...(letters && { font: letters }) }).catch((cause: unknown) => {
        // Without a font of somebody's own, nothing in a document makes it fail.
        if (!letters) throw cause;
        throw new UsageError("The file of --font is not a font that a PDF can hold. Give a .ttf or .otf file.", {
          cause,
        });
      });
  }
  await writeResult(context, flags, rendered());
  if (!seller)
    printNote(
      context,
      "It lacks the shop's name and PIN, which no signed value contains: give --seller NAME and --seller-pin PIN, or set COMPLIANCE_SELLERS.",
    );
}

async function fontOf(file: string): Promise<Uint8Array> {
  return await readFile(file).catch((error: unknown) => {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new UsageError(`The font ${file} cannot be read (${reason}).`, { cause: error });
  });
}

/** @throws CommandFailedError where the tax authority has not signed it */
async function signedDocumentOf(context: CliContext, number: string, flags: ReceiptFlags): Promise<SaleDocument> {
  const found = await findDocument(context, number, flags);
  if (found.document?.receipt) return found.document;
  throw new CommandFailedError(noReceipt(found, flags, "the tax authority has not signed it"));
}

interface Found {
  document: SaleDocument | null;
  stage: string;
  key: BusinessScope;
  /** The number of the sale, also where that of its credit note was asked for. */
  invoice: string;
  /** `sale INV-1`, or `credit note of the sale INV-1`. */
  name: string;
  isCancelled: boolean;
  /** Of a credit note. */
  reversal?: Pick<ReceiptOptions, "reverses" | "reason">;
}

/**
 * @param number a sale's, or a credit note's own
 * @throws CommandFailedError where there is no such sale or credit note
 */
async function findDocument(context: CliContext, number: string, flags: ReceiptFlags): Promise<Found> {
  return await withSales(context, async ({ starter, keyOf }) => {
    const command = (invoice: string) =>
      ["fiscalflow receipt", invoice, "--credit-note", ...scopeFlags(flags)].join(" ");
    const key = keyOf(number, flags);
    let invoice = number;
    const state = await starter.getSale(key).catch(async (error: unknown) => {
      // Of a credit note's number the sale that it reverses, as far as the ledger knows.
      const reversed = isNotFound(error) ? error.creditNoteOf : undefined;
      if (reversed === undefined) return orCreditNoteHint(number, command("INVOICE"))(error);
      invoice = reversed;
      return await starter.getSale({ ...key, invoice });
    });
    if (!flags.creditNote && invoice === number) {
      const { document, stage } = state;
      return { document, stage, key, invoice, name: `sale ${invoice}`, isCancelled: isCancelled(document, stage) };
    }
    const { creditNote = null, refund } = state;
    if (!creditNote && !refund)
      throw new CommandFailedError(
        `The sale ${invoice} has no credit note. If ${invoice} is also the number of another sale's credit note: ${command("'<its sale>'")}`,
      );
    const itsNumber = creditNote?.traderInvoiceNumber;
    if (invoice !== number && itsNumber !== undefined && itsNumber !== number)
      throw new CommandFailedError(
        `The credit note ${number} has no receipt: another one, ${itsNumber}, reverses the sale ${invoice}. See: ${command(shellWord(invoice))}`,
      );
    const name = `credit note of the sale ${invoice}`;
    const isGivenUp = !refund && creditNote?.status !== "completed";
    const stage = isGivenUp ? "cancelled" : state.stage;
    const reversal = reversalOf(state);
    return { document: creditNote, stage, key, invoice, name, isCancelled: isCancelled(creditNote, stage), reversal };
  });
}

/** What was cancelled while the authority had it may be signed yet. */
function isCancelled(document: SaleDocument | null, stage: string): boolean {
  if (document?.status === "cancelled") return true;
  return stage === "cancelled" && (!document || document.status === "failed");
}

/** The reason belongs to our own credit note alone, and not to one of somebody else that reverses the sale in its place. */
function reversalOf({ document, creditNote, refund }: SaleState): Pick<ReceiptOptions, "reverses" | "reason"> {
  const isOurs = refund !== undefined && refund.traderInvoiceNumber === creditNote?.traderInvoiceNumber;
  return { ...(document && { reverses: document }), ...(isOurs && { reason: refund.reason }) };
}

function noReceipt({ name, stage, invoice, isCancelled: isNone }: Found, flags: Scope, why: string): string {
  const none = isNone
    ? "has no receipt, and gets none: it is cancelled."
    : `has no receipt yet: ${why} (stage ${stage}).`;
  return `The ${name} ${none} See: ${showCommand(invoice, flags)}`;
}

/** An answer of Temporal's leaves many lines out; the ledger keeps them. */
async function withItsLines(
  context: CliContext,
  { key, invoice }: Found,
  document: SaleDocument,
): Promise<SaleDocument> {
  const { linesLeftOut, ...others } = document;
  if (!linesLeftOut) return document;
  const kept = await withLedger(context, (ledger) => ledger.documents.findSale(key, invoice), {
    forMachines: true,
    mayBeEmpty: true,
  });
  const documents = [kept?.record.document, kept?.creditNote?.record.document];
  const lines = documents.find((one) => one?.id === document.id)?.lines ?? [];
  if (lines.length === linesLeftOut.count) return { ...others, lines };
  const missing = `The ledger does not have the ${linesLeftOut.count} lines of this document: they are not printed.`;
  printNote(context, `${missing} If it was issued just now, print it again in a minute.`);
  return document;
}

/** Streams the API's own receipt into a file: default, the number with the ending of the content type. */
async function downloadOriginal(context: CliContext, number: string, flags: ReceiptFlags): Promise<void> {
  const { out, force = false } = flags;
  await withNamedOperation(context, flags, "receiptDownload", async ({ client, call }) => {
    if (out !== undefined && !force) await refuseExisting(out);
    const { id: saleId } = await signedDocumentOf(context, number, flags);
    const got: { contentType?: string | undefined; length: number } = { length: 0 };
    const file = await writeWhole(resolve(out ?? fileName(number)), force, async (append) => {
      const { data } = await client.downloadReceipt(saleId, append, call);
      Object.assign(got, data);
      return out === undefined ? endingOf(got.contentType) : "";
    });
    const { contentType = null, length: bytes } = got;
    const data = { saleId, file, contentType, bytes };
    printResult(context, flags.json, data, `${file}: ${contentType ?? "unknown type"}, ${bytes} bytes`);
  });
}

/** A number may hold characters that a file's name cannot. */
function fileName(number: string): string {
  return number
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, "_")
    .replace(/^\./, "_")
    .slice(0, 100);
}

const ENDINGS: Readonly<Record<string, string>> = {
  "application/pdf": ".pdf",
  "application/json": ".json",
  "application/xml": ".xml",
  "text/html": ".html",
  "text/plain": ".txt",
  "image/png": ".png",
  "image/jpeg": ".jpg",
};

function endingOf(contentType = ""): string {
  return ENDINGS[contentType.split(";")[0]?.trim().toLowerCase() ?? ""] ?? ".bin";
}
