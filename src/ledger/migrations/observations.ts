import { type Kysely, sql } from "kysely";

import { schemaOf } from "./schema.ts";

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

/**
 * Which webhooks of the accounting service were passed on, so that none is when it comes again, to whichever receiver.
 * For how long the service repeats one is not known; who does so after seven days only asks for a synchronisation again.
 */
export async function createWebhookEvents(db: Kysely<unknown>): Promise<void> {
  const schema = await schemaOf(db);
  await sql`
    create table webhook_events (
      connection text not null,
      event_id text not null,
      seen_at timestamptz not null default clock_timestamp(),
      primary key (connection, event_id)
    )`.execute(db);
  await sql`create index webhook_events_by_age on webhook_events (seen_at)`.execute(db);
  // With the owner's rights, since a worker may delete nothing. With each that is kept, more than one, so that no old one
  // stays, and few, so that none waits for it.
  await sql`
    create function forget_webhook_events() returns trigger
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
    begin
      delete from ${schema}.webhook_events where (connection, event_id) in (
        select connection, event_id from ${schema}.webhook_events where seen_at < clock_timestamp() - interval '7 days'
        order by seen_at limit 20 for update skip locked);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger webhook_events_are_forgotten after insert on webhook_events
    for each statement execute function forget_webhook_events()`.execute(db);
}

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
