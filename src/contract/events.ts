import type { AttentionCode, Stage } from "./names.ts";
import type { Receipt } from "./documents.ts";

/**
 * What other services read of the ledger's events (https://github.com/fiscalflow/fiscalflow/blob/main/docs/events.md).
 * Fields may be added within a version.
 */

export const EVENT_VERSION = 1;

/**
 * `<number>-<first 16 digits of the event's hash>`: the hash tells whether the ledger still is the one that was read.
 */
export const CURSOR_PATTERN = /^[1-9]\d{0,14}-[0-9a-f]{16}$/;

export interface LedgerEvent {
  version: typeof EVENT_VERSION;
  /** Read on from here: the events after this one. */
  cursor: string;
  connection: string;
  /** Null only if an event belongs to no business. */
  businessId: string | null;
  /** Counts from 1 within the business, without a gap. */
  number: number;
  /** When the ledger wrote it: ISO 8601, in Nairobi's time with its offset. */
  at: string;
  /** What happened: `document-saved`, `correction-ended`, `purchase-changed`, … */
  kind: string;
  /** What it happened to: `sale INV-1001`. */
  subject: string;
  /** Of `document-saved`: the document as it was then. */
  document?: EventDocument;
  /** Of `correction-begun` and `correction-ended`. */
  correction?: EventCorrection;
  /** Of `attention-raised`, `attention-cleared` and `decided`. */
  operator?: EventOperator;
}

export interface EventOperator {
  /** Of the attention; a decision may be about none. */
  code?: AttentionCode;
  /** The update by which the operator decided: `retry`, `resolveStock`, … */
  update?: string;
}

export interface EventDocument {
  type: "sale" | "credit_note";
  number: string;
  stage: Stage;
  /** The API's id and status; null while there is no document. */
  id: string | null;
  status: string | null;
  /** Tax-inclusive; negative on a credit note. */
  total: number | null;
  taxAmount: number | null;
  receipt: Receipt | null;
  /** On a credit note, the id of the sale that it reverses. */
  originalSaleId: string | null;
  /** What an operator is needed for, the most pressing first. */
  attentions: AttentionCode[];
}

export interface EventCorrection {
  invoice: string;
  correctedBy: string;
  creditNote: string;
  /** `begun`: the corrected sale is checked, and its number reserved; nothing was credited before. */
  state: "begun" | "corrected" | "credited" | "cancelled";
}

export interface ReadEventsResult {
  /** In their order, without a gap; empty if there is none after the cursor. */
  events: LedgerEvent[];
}

export const LONGEST_EVENT_WAIT_SECONDS = 10;
