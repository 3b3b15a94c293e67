import { loadConfig } from "../../config/index.ts";
import { type SaleDocument, shellWord } from "../../contract/index.ts";
import { receiptEscPos, receiptHtml, receiptPdf, receiptText } from "../../receipt/index.ts";
import { type ReceiptOptions, signedReceipt } from "../../receipt/page.ts";
import type { SaleState } from "../../starter/index.ts";
import { type CliContext, CommandFailedError, UsageError } from "../context.ts";
import { withNamedOperation } from "../dialect/named-operations.ts";
import { businessOf, type BusinessScope, type Scope } from "../options.ts";
import { formatOf, jsonText, printNote, writeOutput } from "../output.ts";
import { RECEIPT_FORMATS, type ReceiptFlags, type ReceiptFormat } from "../register-outputs.ts";
import { configuredSeller } from "../report/asked.ts";
import { scopeFlags, showCommand } from "../sale/lines.ts";
import { withSales } from "../sale/with-sales.ts";
import { withLedger } from "../with-ledger.ts";

/** Prints the receipt of a sale's number, or of a credit note's own. */
export async function receipt(context: CliContext, number: string, flags: ReceiptFlags): Promise<void> {
  const { out } = flags;
  const format = formatOf(flags, RECEIPT_FORMATS);
  if (context.stdout.isTTY && out === undefined && ["pdf", "escpos", "original"].includes(format))
    throw new UsageError(`A terminal cannot show --format ${format}: add --out FILE, or send the output to a program.`);
  await writeOutput(context, out, rendered(context, number, flags, format));
}

async function* rendered(
  context: CliContext,
  number: string,
  flags: ReceiptFlags,
  format: ReceiptFormat,
): AsyncGenerator<string | Uint8Array> {
  if (format === "json") return yield `${jsonText((await signedDocumentOf(context, number, flags)).receipt, 2)}\n`;
  if (format === "original") return yield await downloadedOriginal(context, number, flags);
  const config = loadConfig({ env: context.env });
  const seller = configuredSeller(config)(businessOf(config, flags));
  const found = await findDocument(context, number, flags);
  const { document: known, stage, isCancelled: cancelled, name } = found;
  if (!known) throw new CommandFailedError(noReceipt(found, flags, "no document was issued"));
  if (cancelled) printNote(context, `The ${name} is cancelled, and not signed: what is printed says so.`);
  else if (!signedReceipt(known))
    printNote(context, `The ${name} is not signed (stage ${stage}): what is printed is provisional.`);
  const document = await withItsLines(context, found, known);
  const render = { text: receiptText, escpos: receiptEscPos, html: receiptHtml, pdf: receiptPdf }[format];
  yield await render(document, { ...found.reversal, cancelled, ...(seller && { seller }) });
  if (!seller)
    printNote(
      context,
      "It lacks the shop's name and PIN, which no signed value contains: set COMPLIANCE_SELLERS to have them.",
    );
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
  /** Of the sale, also where the number of its credit note was asked for. */
  key: BusinessScope & { invoice: string };
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
  return await withSales(context, async ({ find }) => {
    const command = (named: string) => ["fiscalflow receipt", named, "--credit-note", ...scopeFlags(flags)].join(" ");
    const { key, state } = await find(number, flags);
    const { invoice } = key;
    if (!flags.creditNote && invoice === number) {
      const { document, stage } = state;
      return { document, stage, key, name: `sale ${invoice}`, isCancelled: isCancelled(document, stage) };
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
    return { document: creditNote, stage, key, name, isCancelled: isCancelled(creditNote, stage), reversal };
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

function noReceipt({ name, stage, key: { invoice }, isCancelled: isNone }: Found, flags: Scope, why: string): string {
  const none = isNone
    ? "has no receipt, and gets none: it is cancelled."
    : `has no receipt yet: ${why} (stage ${stage}).`;
  return `The ${name} ${none} See: ${showCommand(invoice, flags)}`;
}

/** An answer of Temporal's leaves many lines out; the ledger keeps them. */
async function withItsLines(context: CliContext, { key }: Found, document: SaleDocument): Promise<SaleDocument> {
  const { linesLeftOut, ...others } = document;
  if (!linesLeftOut) return document;
  const kept = await withLedger(context, (ledger) => ledger.documents.findSale(key, key.invoice), {
    quiet: true,
    mayBeEmpty: true,
  });
  const documents = [kept?.record.document, kept?.creditNote?.record.document];
  const lines = documents.find((one) => one?.id === document.id)?.lines ?? [];
  if (lines.length === linesLeftOut.count) return { ...others, lines };
  const missing = `The ledger does not have the ${linesLeftOut.count} lines of this document: they are not printed.`;
  printNote(context, `${missing} If it was issued just now, print it again in a minute.`);
  return document;
}

async function downloadedOriginal(context: CliContext, number: string, flags: ReceiptFlags): Promise<Uint8Array> {
  return await withNamedOperation(context, flags, "receiptDownload", async ({ client, call }) => {
    const { id } = await signedDocumentOf(context, number, flags);
    const pieces: Uint8Array[] = [];
    await client.downloadReceipt(id, async (piece) => pieces.push(piece), call);
    return Buffer.concat(pieces);
  });
}
