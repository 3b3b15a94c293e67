import { type Kysely, sql } from "kysely";

/**
 * The present state of each document, and its claim: how far the requests came that bring it into being. What led there
 * is in the events; `event_number` names the one that all but the claim was written with; `reconciled_event` the one with
 * which the service answered the same, and that it is final. Reports read the lines in `document`, which is binary JSON
 * for that: to parse the text of each would double the work. `credits` is the sale that a credit note was sent for, while
 * that one may be signed.
 */
export async function createRecords(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table documents (
      connection text not null,
      business_id text not null,
      type text not null check (type in ('sale', 'credit_note')),
      number text not null,
      stage text not null,
      failed boolean not null,
      closed text,
      closed_at timestamptz,
      number_taken boolean not null,
      started_at timestamptz not null,
      document_date text not null check (document_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
      fingerprint text,
      asked json,
      asked_total numeric,
      document_id text,
      document_number text,
      status text,
      payment_type_code text,
      customer_name text,
      customer_pin text,
      total numeric,
      taxable_amount numeric,
      tax_amount numeric,
      original_document_id text,
      refund_reason text,
      corrected_by text,
      correction_stage text,
      replaces text,
      cu_invoice_no text,
      signed_on text check (signed_on ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
      receipt json,
      document jsonb,
      attentions json not null,
      needs_person_since timestamptz,
      as_of timestamptz not null,
      sequence integer not null,
      answered_at timestamptz,
      workflow_id text not null,
      run_id text not null,
      event_number bigint not null,
      reconciled_event bigint,
      intent integer not null default 0 check (intent >= 0),
      claim text check (claim in ('in-doubt', 'unsent', 'nothing', 'document')),
      claimed_id text,
      claim_decision json,
      credits text,
      idempotency_key text,
      claim_content text,
      request text,
      first_sent_at timestamptz,
      holder text,
      execution text,
      under_way_until timestamptz,
      primary key (connection, business_id, type, number),
      check ((claim is not distinct from 'document') = (claimed_id is not null)),
      check (claim <> 'in-doubt' or (request is not null and first_sent_at is not null))
    )`.execute(db);
  await sql`create index documents_by_id on documents (connection, business_id, document_id)`.execute(db);
  await sql`create index documents_by_original on documents (connection, business_id, original_document_id)
    where original_document_id is not null`.execute(db);
  await sql`
    create unique index one_live_credit_note on documents (connection, business_id, credits)
    where credits is not null`.execute(db);
  await sql`create index documents_in_doubt on documents (under_way_until) where claim = 'in-doubt'`.execute(db);
  await sql`create index documents_closed on documents (workflow_id) where closed is not null`.execute(db);
  await sql`create index documents_by_date on documents (document_date)`.execute(db);
  await sql`
    create index documents_signed_on_another_day on documents (connection, business_id, signed_on)
    where signed_on <> document_date`.execute(db);
  await sql`
    create index documents_to_reconcile on documents (connection, business_id, type, number)
    where document_id is not null and reconciled_event is distinct from event_number`.execute(db);
}
