import { type Kysely, sql } from "kysely";

/**
 * Which webhooks of the accounting service were passed on, so that none is when it comes again, to whichever receiver.
 */
export async function createWebhookEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_events (
      connection text not null,
      event_id text not null,
      seen_at timestamptz not null default clock_timestamp(),
      primary key (connection, event_id)
    )`.execute(db);
  await sql`create index webhook_events_by_age on webhook_events (seen_at)`.execute(db);
}
