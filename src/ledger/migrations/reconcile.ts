import { type Kysely, sql } from "kysely";

/** What was found not to match. */
export async function createReconcileTables(db: Kysely<unknown>): Promise<void> {
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
