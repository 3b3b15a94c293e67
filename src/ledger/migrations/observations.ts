import { type Kysely, sql } from "kysely";

/**
 * What answers have shown that does not fit the dialect, and the branches that no stock movement goes to until somebody
 * has looked.
 */
export async function createObservations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table observations (
      service text not null check (service in ('compliance', 'accounting')),
      connection text not null,
      business_id text not null,
      kind text not null,
      subject text not null,
      value text not null,
      message text not null,
      count bigint not null check (count > 0),
      first_seen_at timestamptz not null default clock_timestamp(),
      last_seen_at timestamptz not null default clock_timestamp(),
      primary key (service, connection, business_id, kind, subject, value)
    ) with (fillfactor = 50)`.execute(db);
  await sql`
    create table stock_branch_holds (
      connection text not null,
      business_id text not null,
      sent_as text not null,
      asked text not null,
      answered text not null,
      reference_id text not null,
      held_at timestamptz not null default clock_timestamp(),
      looked_at json,
      primary key (connection, business_id, sent_as, asked, answered)
    )`.execute(db);
}
