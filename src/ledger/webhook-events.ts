import type { Database } from "./database.ts";
import { storableText } from "./storable-text.ts";

/**
 * Which webhooks of an accounting connection were passed on, by the ids that the service gives them: known to all
 * receivers, for seven days. Functions throw LedgerUnavailableError when the ledger cannot answer, and may then be
 * called again as they were.
 */
export function createWebhookEvents(database: Database) {
  return {
    isKnown: (connection: string, eventId: string): Promise<boolean> =>
      database.query(async (db) => {
        const row = await db
          .selectFrom("webhook_events")
          .select("seen_at")
          .where((eb) => eb.and({ connection, event_id: storableText(eventId) }))
          .executeTakeFirst();
        return row !== undefined;
      }),
    /** The database forgets old ones as it takes a new one (`forget_webhook_events`). */
    keep: (connection: string, eventId: string): Promise<void> =>
      database.query(async (db) => {
        await db
          .insertInto("webhook_events")
          .values({ connection, event_id: storableText(eventId) })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }),
  };
}
