import type { Receipt, SaleDocument } from "../../contract/index.ts";
import { signedReceipt } from "../../receipt/page.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import { printNote, shellWord } from "../output.ts";
import { creditNoteOf, orCreditNoteHint } from "../sale/credit-note-of.ts";
import type { Scope } from "../sale/scope.ts";
import { withSales } from "../sale/with-sales.ts";

interface Wanted extends Scope {
  creditNote?: boolean;
}

/**
 * The document with its lines; a note says where it is not signed.
 * @throws CommandFailedError where there is no such sale, credit note or document
 */
export async function documentOf(context: CliContext, invoice: string, wanted: Wanted): Promise<SaleDocument> {
  const { document, stage, key } = await find(context, invoice, wanted);
  if (!document) throw new CommandFailedError(nothingYet(invoice, wanted, stage, "no document was issued"));
  if (!signedReceipt(document))
    printNote(context, `The ${named(invoice, wanted)} is not signed (stage ${stage}): what is printed is provisional.`);
  return await withItsLines(context, key, invoice, document);
}

/**
 * The document of a receipt.
 * @throws CommandFailedError as {@link documentOf}, and where the tax authority has not signed it
 */
export async function signedDocumentOf(
  context: CliContext,
  invoice: string,
  wanted: Wanted,
): Promise<SaleDocument & { receipt: Receipt }> {
  const { document, stage } = await find(context, invoice, wanted);
  if (document?.receipt) return { ...document, receipt: document.receipt };
  throw new CommandFailedError(nothingYet(invoice, wanted, stage, "the tax authority has not signed it"));
}

interface Found {
  document: SaleDocument | null;
  stage: string;
  key: BusinessScope;
}

async function find(context: CliContext, invoice: string, wanted: Wanted): Promise<Found> {
  return await withSales(context, async (sales) => {
    const key = sales.keyOf(invoice, wanted);
    const state = await sales.starter
      .getSale(key)
      .catch(orCreditNoteHint(invoice, "fiscalflow receipt INVOICE --credit-note"));
    const { document, stage } = state;
    if (wanted.creditNote !== true) return { document, stage, key };
    const note = (await creditNoteOf(sales, key, state))?.state;
    if (note) return { document: note.document, stage: note.stage, key };
    if (state.creditNote) return { document: state.creditNote, stage, key };
    throw new CommandFailedError(`The sale ${invoice} has no credit note.`);
  });
}

function nothingYet(invoice: string, wanted: Wanted, stage: string, why: string): string {
  return `The ${named(invoice, wanted)} has no receipt yet: ${why} (stage ${stage}). See: fiscalflow sale show ${shellWord(invoice)}`;
}

function named(invoice: string, { creditNote }: Wanted): string {
  return creditNote === true ? `credit note of the sale ${invoice}` : `sale ${invoice}`;
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
  const kept = await withLedger(context, (ledger) => ledger.records.findSale(key, invoice), {
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
