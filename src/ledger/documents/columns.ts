import { decimalText, type DocumentRecord, givenText, isCalendarDate, worthOf } from "../../contract/index.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import type { Writer } from "../events/chain.ts";
import { storableJson, storableText } from "../storable-text.ts";

/** What the event of a row says: all that the row holds, and nothing that changes without the document. */
export interface RowContent extends DocumentRecord {
  /** Which carries the document on, or ended last. */
  run: Writer;
}

/** The kind of the events that say all of a document. */
export const DOCUMENT_SAVED = "document-saved";

/** The kind of the events that keep what an operator decided. */
export const DECIDED = "decided";

/** The subject of a record's events. */
export function subjectOf({ type, number }: { type: string; number: string }): string {
  return `${type} ${storableText(number)}`;
}

/**
 * The columns of `documents` that follow from a record: written with it, and compared with it when the ledger is
 * verified.
 */
export function documentColumns(content: RowContent) {
  const {
    type,
    number,
    stage,
    failed = false,
    closed,
    numberTaken,
    startedAtMs,
    fingerprint,
    content: asked,
    document,
  } = content;
  const saleDate = document?.saleDate;
  return {
    type,
    number: storableText(number),
    stage,
    failed,
    closed: closed?.status ?? null,
    closed_at: closed ? new Date(closed.atMs) : null,
    number_taken: numberTaken,
    started_at: new Date(startedAtMs),
    document_date: typeof saleDate === "string" && isCalendarDate(saleDate) ? saleDate : content.date,
    fingerprint: fingerprint ?? null,
    asked: asked ? canonicalJson(asked) : null,
    asked_total: asked && asked.lines.length > 0 ? worthOf(asked.lines) : null,
    document_id: text(document?.id),
    document_number: text(document?.traderInvoiceNumber),
    status: text(document?.status),
    payment_type_code: text(document?.paymentTypeCode),
    customer_name: text(document?.customer?.name),
    customer_pin: text(document?.customer?.pin),
    total: number_(document?.totals.total),
    taxable_amount: number_(document?.totals.taxableAmount),
    tax_amount: number_(document?.totals.taxAmount),
    original_document_id: text(givenText(document?.originalSaleId) ?? content.originalSaleId),
    refund_reason: text(refundReason(content)),
    corrected_by: text(content.correction?.correctedBy),
    correction_stage: content.correction?.stage ?? null,
    replaces: text(content.replaces),
    cu_invoice_no: text(document?.receipt?.cuInvoiceNo),
    signed_on: signedOn(document?.receipt?.scuDate),
    receipt: document?.receipt ? canonicalJson(document.receipt) : null,
    document: document ? canonicalJson(storableJson(document)) : null,
    attentions: canonicalJson(content.attentions),
    needs_person_since: eldest(content.attentions),
    workflow_id: storableText(content.run.workflowId),
    run_id: storableText(content.run.runId),
  };
}

/** Where somebody else's credit note reverses the sale, nobody here knows its reason. */
function refundReason({ type, number, document, refund }: RowContent): string | undefined {
  const isOurs = type === "credit_note" && (document === null || document.traderInvoiceNumber === number);
  return isOurs ? refund?.reason : undefined;
}

function text(value: string | null | undefined): string | null {
  const given = givenText(value);
  return given === null ? null : storableText(given);
}

/** `scuDate` is printed as `DD/MM/YYYY` (Fiscal Compliance API, Receipt). */
function signedOn(scuDate: unknown): string | null {
  const [day, month, year] = typeof scuDate === "string" ? scuDate.split("/") : [];
  const date = `${year}-${month}-${day}`;
  return isCalendarDate(date) && scuDate === `${day}/${month}/${year}` ? date : null;
}

function number_(value: number | undefined): string | null {
  return value === undefined ? null : decimalText(value);
}

function eldest(attentions: RowContent["attentions"]): Date | null {
  return attentions.length === 0 ? null : new Date(Math.min(...attentions.map(({ sinceMs }) => sinceMs)));
}
