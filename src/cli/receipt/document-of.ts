import type { Receipt, SaleDocument } from "../../contract/index.ts";
import { type ReceiptOptions, signedReceipt } from "../../receipt/page.ts";
import type { SaleKey, SaleState } from "../../starter/index.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import { printNote, shellWord } from "../output.ts";
import { isNotFound, orCreditNoteHint, scopeFlags, showCommand } from "../sale/command-lines.ts";
import type { Scope } from "../sale/scope.ts";
import { type Sales, withSales } from "../sale/with-sales.ts";

interface Wanted extends Scope {
  creditNote?: boolean;
}

/**
 * The document with its lines; a note says where it is not signed, or cancelled.
 * @throws CommandFailedError where there is no such sale, credit note or document
 */
export async function documentOf(context: CliContext, number: string, wanted: Wanted): Promise<PrintedDocument> {
  const found = await find(context, number, wanted);
  const { document, stage, key, invoice, name } = found;
  if (!document) throw new CommandFailedError(noReceipt(found, wanted, "no document was issued"));
  const cancelled = isCancelled(found);
  if (cancelled) printNote(context, `The ${name} is cancelled, and not signed: what is printed says so.`);
  else if (!signedReceipt(document))
    printNote(context, `The ${name} is not signed (stage ${stage}): what is printed is provisional.`);
  const options = { ...found.reversal, cancelled };
  return { document: await withItsLines(context, key, invoice, document), options };
}

export interface PrintedDocument {
  document: SaleDocument;
  /** What the document does not say itself. */
  options: Omit<ReceiptOptions, "seller">;
}

/**
 * The document of a receipt.
 * @throws CommandFailedError as {@link documentOf}, and where the tax authority has not signed it
 */
export async function signedDocumentOf(
  context: CliContext,
  number: string,
  wanted: Wanted,
): Promise<SaleDocument & { receipt: Receipt }> {
  const found = await find(context, number, wanted);
  const { document } = found;
  if (document?.receipt) return { ...document, receipt: document.receipt };
  throw new CommandFailedError(noReceipt(found, wanted, "the tax authority has not signed it"));
}

interface Found {
  document: SaleDocument | null;
  stage: string;
  key: BusinessScope;
  /** The number of the sale, also where that of its credit note was asked for. */
  invoice: string;
  /** `sale INV-1`, or `credit note of the sale INV-1`. */
  name: string;
  /** Of a credit note. */
  reversal?: Pick<ReceiptOptions, "reverses" | "reason">;
}

/** @param number a sale's, or a credit note's own */
async function find(context: CliContext, number: string, wanted: Wanted): Promise<Found> {
  return await withSales(context, async (sales) => {
    const asked = sales.keyOf(number, wanted);
    const { invoice, state } = await saleOrReversed(sales, asked, wanted);
    const { document, stage } = state;
    const key = { ...asked, invoice };
    if (wanted.creditNote !== true && invoice === number) {
      return { document, stage, key, invoice, name: `sale ${invoice}` };
    }
    const { creditNote = null, refund } = state;
    if (!creditNote && !refund) {
      const command = ["fiscalflow receipt '<its sale>' --credit-note", ...scopeFlags(wanted)].join(" ");
      throw new CommandFailedError(
        `The sale ${invoice} has no credit note. If ${invoice} is also the number of another sale's credit note: ${command}`,
      );
    }
    const itsNumber = creditNote?.traderInvoiceNumber;
    if (invoice !== number && itsNumber !== undefined && itsNumber !== number) {
      const command = ["fiscalflow receipt", shellWord(invoice), "--credit-note", ...scopeFlags(wanted)].join(" ");
      throw new CommandFailedError(
        `The credit note ${number} has no receipt: another one, ${itsNumber}, reverses the sale ${invoice}. See: ${command}`,
      );
    }
    const name = `credit note of the sale ${invoice}`;
    const isGivenUp = !refund && creditNote?.status !== "completed";
    const reversal = reversalOf(state);
    return { document: creditNote, stage: isGivenUp ? "cancelled" : stage, key, invoice, name, reversal };
  });
}

/** The reason belongs to our own credit note alone, and not to one of somebody else that reverses the sale in its place. */
function reversalOf({ document, creditNote, refund }: SaleState): Found["reversal"] {
  const isOurs = refund !== undefined && refund.traderInvoiceNumber === creditNote?.traderInvoiceNumber;
  return { ...(document && { reverses: document }), ...(isOurs && { reason: refund.reason }) };
}

/** The sale of a number; of a credit note's number the sale that it reverses, as far as the ledger knows. */
async function saleOrReversed(
  { starter }: Sales,
  key: SaleKey & BusinessScope,
  wanted: Scope,
): Promise<{ invoice: string; state: SaleState }> {
  const { invoice } = key;
  try {
    return { invoice, state: await starter.getSale(key) };
  } catch (error) {
    const reversed = isNotFound(error) ? error.creditNoteOf : undefined;
    const command = ["fiscalflow receipt INVOICE --credit-note", ...scopeFlags(wanted)].join(" ");
    if (reversed === undefined) return orCreditNoteHint(invoice, command)(error);
    return { invoice: reversed, state: await starter.getSale({ ...key, invoice: reversed }) };
  }
}

function noReceipt(found: Found, wanted: Scope, why: string): string {
  const { name, stage, invoice } = found;
  const none = isCancelled(found)
    ? "has no receipt, and gets none: it is cancelled."
    : `has no receipt yet: ${why} (stage ${stage}).`;
  return `The ${name} ${none} See: ${showCommand(invoice, wanted)}`;
}

/** What was cancelled while the authority had it may be signed yet. */
function isCancelled({ document, stage }: Found): boolean {
  if (document?.status === "cancelled") return true;
  return stage === "cancelled" && (!document || document.status === "failed");
}

/** An answer of Temporal's leaves many lines out; the ledger keeps them. */
async function withItsLines(
  context: CliContext,
  key: BusinessScope,
  invoice: string,
  document: SaleDocument,
): Promise<SaleDocument> {
  const { linesLeftOut, ...others } = document;
  if (!linesLeftOut) return document;
  const { withLedger } = await import("../with-ledger.ts");
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
