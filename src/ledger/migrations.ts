import { type Kysely, type Migration, sql } from "kysely";

import { createBillPaymentTables } from "./migrations/bill-payments.ts";
import { createMovements, createSyncBatches } from "./migrations/claims.ts";
import { createEvents } from "./migrations/events.ts";
import { createObservations, createReconcileTables, createWebhookEvents } from "./migrations/observations.ts";
import { createPurchaseTables } from "./migrations/purchases.ts";
import { createRecords } from "./migrations/records.ts";

/**
 * Every change of the tables, by name: one that has been released is never edited. The baseline is edited in place
 * until 1.0 is released; a database that an earlier state of it made is dropped, and made anew.
 */
export const MIGRATIONS: Record<string, Migration> = { "1.0-baseline": { up: createTables } };

/** What the tables of release 0.5 were made by: nothing of it carries over. */
export const BASELINE_0_5 = "0001-baseline";

async function createTables(db: Kysely<unknown>): Promise<void> {
  await createMovements(db);
  await createQuotaWindows(db);
  await createEvents(db);
  await createRecords(db);
  await createBillPaymentTables(db);
  await createSyncBatches(db);
  await createPurchaseTables(db);
  await createReconcileTables(db);
  await createWebhookEvents(db);
  await createObservations(db);
}

/**
 * Unlogged, so that no call waits for the disk twice: after a crash of the database, or on a replica that takes over,
 * it is empty, and the count begins anew with what the next answers tell.
 */
async function createQuotaWindows(db: Kysely<unknown>): Promise<void> {
  await sql`
    create unlogged table quota_windows (
      application text primary key,
      number bigint not null,
      ends_at timestamptz not null,
      length_ms integer not null check (length_ms > 0),
      told boolean not null,
      request_limit integer not null,
      reserved integer not null,
      spent integer not null,
      seen integer not null,
      in_flight integer not null,
      silent integer not null,
      strangers_for integer not null
    ) with (fillfactor = 50)`.execute(db);
}
