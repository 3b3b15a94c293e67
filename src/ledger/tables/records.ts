import type { ColumnType, Generated } from "kysely";

import type { CorrectionStage } from "../../contract/index.ts";
import type { EventNumber, Json, NumericOrNull, OfBusiness, Written } from "./columns.ts";

/** Sales and credit notes as they are now. */
export interface DocumentsTable extends OfBusiness, Written {
  type: "sale" | "credit_note";
  /** That was asked for. */
  number: string;
  stage: string;
  /** What was asked of the workflow was refused: there will be no document. */
  failed: boolean;
  /** How its run ended without an outcome (`terminated`, …); null while it goes on, and once it is through. */
  closed: string | null;
  closed_at: Date | null;
  number_taken: boolean;
  started_at: Date;
  /** `YYYY-MM-DD`: the document's own, else as asked for. */
  document_date: string;
  fingerprint: string | null;
  asked: Json;
  /** Σ(quantity × unit price) of what was asked for. */
  asked_total: NumericOrNull;
  /** Null until the service has one. */
  document_id: string | null;
  /** Another than `number` where somebody else's credit note reverses the sale. */
  document_number: string | null;
  status: string | null;
  payment_type_code: string | null;
  customer_name: string | null;
  customer_pin: string | null;
  total: NumericOrNull;
  taxable_amount: NumericOrNull;
  tax_amount: NumericOrNull;
  original_document_id: string | null;
  /** Of a credit note of our own: the code that it was asked for with. */
  refund_reason: string | null;
  /** On a sale that is corrected, or whose correction was given up: the number of the corrected sale. */
  corrected_by: string | null;
  correction_stage: CorrectionStage | null;
  /** On a corrected sale: the number of the sale that it replaces. */
  replaces: string | null;
  cu_invoice_no: string | null;
  /** `YYYY-MM-DD`: the receipt's `scuDate`; null where there is none, or none that is a date. */
  signed_on: string | null;
  receipt: Json;
  /** As the service answered it, with what we do not read. */
  document: Json;
  attentions: Json;
  /** The eldest attention; null where nobody is needed. */
  needs_person_since: Date | null;
  /** Of the last note, by the workflow's clock, and which note of its run it was. */
  as_of: Date;
  sequence: number;
  /** When the last answer was asked for; null while there is none. */
  answered_at: Date | null;
  /** The event that says all that the row says. */
  event_number: EventNumber;
  /** The event that it was written with when the service answered the same and that it is final. */
  reconciled_event: ColumnType<string | null, number | string | null | undefined, number | string | null>;
  /** The newest one that was taken, or decided upon; 0 where none was. */
  intent: Generated<number>;
  /** `in-doubt`: something of this intent may have left, and nothing has settled it. Null: none was ever taken. */
  claim: "in-doubt" | "unsent" | "nothing" | "document" | null;
  /** The document that the claim knows, of which no answer may have been read yet. */
  claimed_id: string | null;
  /** What an operator decided. */
  claim_decision: Json;
  /** Of a credit note that was sent, and may be signed: the sale that it reverses. */
  credits: string | null;
  idempotency_key: string | null;
  /** A fingerprint of what the request says. */
  claim_content: string | null;
  /** Kept as text, since the bytes of a repetition must be those of the first. */
  request: string | null;
  first_sent_at: Date | null;
  /** Workflow and run that took it. */
  holder: string | null;
  /** The execution that took, or repeated, the intent last; null while several may be at it. */
  execution: string | null;
  /** Until then an execution may be at its call; null once the last one has ended. */
  under_way_until: ColumnType<Date | null, unknown, unknown>;
}
