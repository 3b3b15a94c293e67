import type { CorrectionStage, Receipt, SaleDocument } from "../../contract/index.ts";
import type { KnownCorrection, SaleKey, SaleState } from "../../starter/index.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import type { Sales } from "./with-sales.ts";

/** What an accountant books of a document. */
export interface BookedDocument {
  number: string;
  /** Tax-inclusive; negative on a credit note. */
  total: number;
  taxAmount: number;
  /** Null until the tax authority has accepted it. */
  receipt: Receipt | null;
}

/** Without the receipt of the corrected sale, which stood beside the number of the sale that is corrected. */
export interface ShownCorrection extends Omit<KnownCorrection, "receipt"> {
  /** With their receipts; as far as they are there. */
  documents: { creditNote?: BookedDocument; correctedSale?: BookedDocument };
}

const WITHOUT_DOCUMENTS: readonly CorrectionStage[] = ["preparing", "cancelled"];

/**
 * The correction with the documents of its credit note and of its corrected sale: it knows their numbers alone.
 * @param shown the sale's state, where it is known already
 */
export async function withDocuments(
  sales: Sales,
  key: SaleKey & BusinessScope,
  correction: KnownCorrection,
  shown?: SaleState,
): Promise<ShownCorrection> {
  const { receipt: _ofCorrectedSale, ...told } = correction;
  if (WITHOUT_DOCUMENTS.includes(correction.stage)) return { ...told, documents: {} };
  const { starter } = sales;
  const corrected = { ...key, invoice: correction.correctedBy };
  const [creditNote, correctedSale] = await Promise.all([
    orNothing(async () => (shown ?? (await starter.getSale(key))).creditNote),
    orNothing(async () => (await starter.getSale(corrected)).document),
  ]);
  return { ...told, documents: { ...(creditNote && { creditNote }), ...(correctedSale && { correctedSale }) } };
}

/** The correction stands, also while a document of it cannot be shown: its sale is not there yet, or nobody answers. */
async function orNothing(read: () => Promise<SaleDocument | null | undefined>): Promise<BookedDocument | undefined> {
  const document = await read().catch(() => undefined);
  return document ? bookedOf(document) : undefined;
}

export function bookedOf({ traderInvoiceNumber: number, totals, receipt = null }: SaleDocument): BookedDocument {
  return { number, total: totals.total, taxAmount: totals.taxAmount, receipt };
}
