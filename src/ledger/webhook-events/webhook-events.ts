import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";

/**
 * Which webhooks of an accounting connection were passed on, by the ids that the service gives them: known to all
 * receivers, for seven days. Functions throw LedgerUnavailableError when the ledger cannot answer, and may then be
 * called again as they were.
 */
export interface WebhookEvents {
  isKnown(connection: string, eventId: string): Promise<boolean>;
  keep(connection: string, eventId: string): Promise<void>;
}

export function createWebhookEvents(database: Database): WebhookEvents {
  return {
    isKnown: (connection, eventId) => database.transact((db) => isKnown(db, connection, eventId)),
    keep: (connection, eventId) => database.transact((db) => keep(db, connection, eventId)),
  };
}

async function isKnown(db: Queries, connection: string, eventId: string): Promise<boolean> {
  const row = await db
    .selectFrom("webhook_events")
    .select("seen_at")
    .where("connection", "=", connection)
    .where("event_id", "=", storableText(eventId))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * For how long the service repeats a webhook is not shown; who does so for longer only asks for a synchronisation
 * again.
 */
const KEPT_FOR = sql`interval '7 days'`;
/** Forgotten with each that is kept: more than one, so that none stays, and few, so that none waits for it. */
const FORGOTTEN_AT_ONCE = 20;

async function keep(db: Queries, connection: string, eventId: string): Promise<void> {
  await sql`
    with forgotten as (
      delete from webhook_events where (connection, event_id) in (
        select connection, event_id from webhook_events where seen_at < clock_timestamp() - ${KEPT_FOR}
        order by seen_at limit ${FORGOTTEN_AT_ONCE} for update skip locked))
    insert into webhook_events (connection, event_id) values (${connection}, ${storableText(eventId)})
    on conflict do nothing`.execute(db);
}
