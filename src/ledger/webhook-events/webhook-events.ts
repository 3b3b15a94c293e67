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

/** The database forgets old ones as it takes a new one (`forget_webhook_events`). */
async function keep(db: Queries, connection: string, eventId: string): Promise<void> {
  await db
    .insertInto("webhook_events")
    .values({ connection, event_id: storableText(eventId) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
