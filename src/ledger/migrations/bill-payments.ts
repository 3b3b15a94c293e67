import { type Kysely, sql } from "kysely";

/**
 * Bill payments as they were last seen. What changed in them is in the events.
 */
export async function createBillPaymentTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table bill_payments (
      connection text not null,
      bill_payment_id text not null,
      sync_status text,
      status_observed_at timestamptz,
      supplier_id text,
      supplier_name text,
      account_id text,
      account_name text,
      payment_method_id text,
      payment_method_name text,
      bill_id text,
      bill_code text,
      total_amount numeric,
      currency text,
      currency_rate numeric,
      payment_date text,
      bill_payment_code text,
      note text,
      service_created_at timestamptz,
      service_updated_at timestamptz,
      content_hash text not null,
      body text not null,
      first_seen_at timestamptz not null default clock_timestamp(),
      changed_at timestamptz not null default clock_timestamp(),
      observed_at timestamptz not null,
      missing_since timestamptz,
      event_number bigint not null,
      workflow_id text not null,
      run_id text not null,
      primary key (connection, bill_payment_id)
    ) with (fillfactor = 70)`.execute(db);
  await sql`create index bill_payments_of_bill on bill_payments (connection, bill_code)`.execute(db);
}
