import {
  type CreditNoteInput,
  type DocumentRecord,
  fingerprintOf,
  nairobiDate,
  saleContent,
  type SaleInput,
} from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import { contentOfKept, documentKey, lockKept, saveOver } from "./save.ts";

/** What is known of a document before its run has anything to record. */
export type UnderWayRecord = Omit<
  DocumentRecord,
  "asOfMs" | "sequence" | "document" | "movements" | "attentions" | "attentionChanges" | "decisions"
>;

/** How far a run is that was started then. */
export type Progress = Pick<UnderWayRecord, "stage" | "numberTaken" | "startedAtMs">;

/**
 * What a sale is to issue, as its input tells. Undefined where it was issued elsewhere: if it proves to be another one,
 * its run fails, and records nothing.
 */
export function underWaySale(
  sale: SaleInput,
  businessId: string | undefined,
  progress: Progress,
): UnderWayRecord | undefined {
  if (sale.saleId !== undefined) return undefined;
  const { traderInvoiceNumber: number, saleDate: date = nairobiDate(progress.startedAtMs) } = sale;
  const content = saleContent(sale, businessId);
  return { type: "sale", number, ...progress, date, content, fingerprint: fingerprintOf(content) };
}

/** The same of a credit note. */
export function underWayCreditNote(note: CreditNoteInput, progress: Progress): UnderWayRecord {
  const { traderInvoiceNumber: number, returnDate: date = nairobiDate(progress.startedAtMs), saleId } = note;
  return { type: "credit_note", number, ...progress, date, originalSaleId: saleId };
}

const NOTHING_YET = { document: null, movements: [], attentions: [], attentionChanges: [], decisions: [] };

/**
 * Keeps that a document is under way, beneath whatever else there is: it counts as of the start of its run, and before
 * the run's first record, so that each of them supersedes it, whichever comes first. It never replaces a document, nor
 * the credit note of another sale, nor what this run has recorded. To be repeated freely.
 */
export async function saveUnderWay(
  db: Queries,
  business: Business,
  underWay: UnderWayRecord,
  writer: Writer,
): Promise<void> {
  const kept = await lockKept(db, documentKey(business, underWay));
  const of = underWay.originalSaleId === undefined ? null : storableText(underWay.originalSaleId);
  if (kept && (kept.document_id !== null || kept.original_document_id !== of)) return;
  const isOfRun = kept?.run_id === storableText(writer.runId);
  if (kept && isOfRun && (kept.sequence > 0 || contentOfKept(kept).numberTaken || !underWay.numberTaken)) return;
  const record = { ...underWay, ...NOTHING_YET, asOfMs: underWay.startedAtMs, sequence: 0 };
  await saveOver(db, business, kept, record, writer);
}
