import { type Kysely, sql } from "kysely";

/** What was found not to match, and which documents were seen final by the service. */
export async function createReconcileTables(db: Kysely<unknown>): Promise<void> {
  // The event that the row was written with when the service said the same, and that it is final.
  await sql`alter table documents add column reconciled_event bigint`.execute(db);
  await sql`
    create index documents_to_reconcile on documents (connection, business_id, type, number)
    where document_id is not null and reconciled_event is distinct from event_number`.execute(db);
  await sql`
    create table reconcile_findings (
      connection text not null,
      business_id text not null,
      kind text not null,
      subject text not null,
      reason text not null,
      next_step text not null,
      since timestamptz not null default clock_timestamp(),
      seen_by text not null,
      gone_at timestamptz,
      event_number bigint not null,
      workflow_id text not null,
      run_id text not null,
      primary key (connection, business_id, kind, subject)
    )`.execute(db);
}
