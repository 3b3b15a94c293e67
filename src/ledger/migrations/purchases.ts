import { type Kysely, sql } from "kysely";

/** Supplier invoices, the history of what changed in them, and the synchronisations that read them. */
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
      seen_by text not null,
      listed_by text,
      grounded boolean not null default false,
      missing_since timestamptz,
      workflow_id text not null,
      run_id text not null,
      primary key (connection, business_id, purchase_id)
    ) with (fillfactor = 70)`.execute(db);
  await sql`
    create index purchases_of_supplier on purchases (connection, business_id, supplier_pin, supplier_invoice_number)
    `.execute(db);
  await sql`create index purchases_by_date on purchases (connection, business_id, invoice_date)`.execute(db);
  await sql`
    create table purchase_history (
      id bigint generated always as identity primary key,
      at timestamptz not null default clock_timestamp(),
      connection text not null,
      business_id text not null,
      purchase_id text not null,
      what text not null check (
        what in ('first-seen', 'status', 'confirmation-error', 'content', 'missing', 'returned')),
      before json,
      after json,
      workflow_id text not null,
      run_id text not null
    )`.execute(db);
  await sql`
    create index purchase_history_of_purchase on purchase_history (connection, business_id, purchase_id, id)`.execute(
    db,
  );
  await sql`
    create table purchase_syncs (
      sync_id text primary key,
      connection text not null,
      business_id text not null,
      kind text not null check (kind in ('recent', 'full', 'window')),
      started_at timestamptz not null default clock_timestamp(),
      completed_at timestamptz
    )`.execute(db);
}
