import { type Kysely, sql } from "kysely";

/**
 * Supplier invoices as they were last seen, the synchronisations that read them and bill payments (what changed is in
 * the events), and what the registration of each item came to.
 */
export async function createPurchaseTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table purchases (
      connection text not null,
      business_id text not null,
      purchase_id text not null,
      status text not null,
      confirmation_error text,
      supplier_name text,
      supplier_pin text,
      supplier_invoice_number text not null,
      invoice_date text not null,
      branch text,
      subtotal numeric not null,
      vat numeric not null,
      total numeric not null,
      content_hash text not null,
      body text not null,
      first_seen_at timestamptz not null default clock_timestamp(),
      changed_at timestamptz not null default clock_timestamp(),
      observed_at timestamptz not null,
      missing_since timestamptz,
      event_number bigint not null,
      workflow_id text not null,
      run_id text not null,
      primary key (connection, business_id, purchase_id)
    ) with (fillfactor = 70)`.execute(db);
  await sql`
    create index purchases_of_supplier on purchases (connection, business_id, supplier_pin, supplier_invoice_number)
    `.execute(db);
  await sql`create index purchases_by_date on purchases (connection, business_id, invoice_date)`.execute(db);
  await sql`
    create table item_registrations (
      connection text not null,
      business_id text not null,
      item text not null,
      batch_id text not null,
      outcome text not null check (
        outcome in ('registered', 'registered-already', 'needs-data', 'refused', 'unknown', 'unclear')),
      name text,
      needs json,
      reason text,
      at timestamptz not null default clock_timestamp(),
      workflow_id text not null,
      run_id text not null,
      primary key (connection, business_id, item)
    )`.execute(db);
  await sql`
    create table syncs (
      sync_id text primary key,
      collection text not null check (collection in ('purchases', 'bill_payments')),
      connection text not null,
      business_id text not null,
      kind text not null check (kind in ('recent', 'full', 'window')),
      started_at timestamptz not null default clock_timestamp(),
      completed_at timestamptz,
      settled boolean,
      known_until timestamptz,
      left_out json
    )`.execute(db);
  await sql`
    create index syncs_of_business on syncs (collection, connection, business_id) where completed_at is not null
    `.execute(db);
}
