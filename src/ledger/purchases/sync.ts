import { sql } from "kysely";

import type { PurchasesWindow } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import { missingEvent } from "./events.ts";
import type { PurchaseSync } from "./purchases.ts";
import { lockBusiness } from "./row.ts";

/** Rows that one transaction marks: it has the time of one operation, also where the machine is busy. */
const BATCH = 500;

export async function begin(db: Queries, sync: PurchaseSync): Promise<void> {
  const { syncId, kind } = sync;
  await db
    .insertInto("purchase_syncs")
    .values({ sync_id: storableText(syncId), ...businessColumns(sync), kind })
    .onConflict((conflict) => conflict.column("sync_id").doNothing())
    .execute();
}

export async function unseen(db: Queries, sync: PurchaseSync): Promise<number> {
  const { connection, business_id } = businessColumns(sync);
  const { count } = await db
    .selectFrom("purchases")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("connection", "=", connection)
    .where("business_id", "=", business_id)
    .where("missing_since", "is", null)
    .where("seen_by", "<>", sync.syncId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Asking for each of so many days costs less than reading all that is between them. */
const MOST_DAYS = 31;

export async function windowsOfChanged(db: Queries, sync: PurchaseSync): Promise<PurchasesWindow[]> {
  const { connection, business_id } = businessColumns(sync);
  const { rows } = await sql<{ day: string }>`
    select distinct invoice_date as day from purchases
    where connection = ${connection} and business_id = ${business_id} and missing_since is null
      and status in ('pulled', 'pending_review') and seen_by <> ${sync.syncId}
      and invoice_date ~ '^\\d{4}-\\d{2}-\\d{2}$'
    order by day`.execute(db);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (rows.length > MOST_DAYS) return [{ from: first.day, to: last.day }];
  return rows.map(({ day }) => ({ from: day, to: day }));
}

/** True while there are more: to be called again. */
export async function groundSome(db: Queries, sync: PurchaseSync): Promise<boolean> {
  const scope = businessColumns(sync);
  await lockBusiness(db, scope);
  const { rows } = await sql`
    update purchases set grounded = true
    where (connection, business_id, purchase_id) in (
      select connection, business_id, purchase_id from purchases
      where connection = ${scope.connection} and business_id = ${scope.business_id}
        and listed_by = ${sync.syncId} and not grounded
      limit ${BATCH})
    returning 1`.execute(db);
  return rows.length === BATCH;
}

/** True while there are more: to be called again. */
export async function markMissing(db: Queries, sync: PurchaseSync, writer: Writer): Promise<boolean> {
  const scope = businessColumns(sync);
  await lockBusiness(db, scope);
  const { rows } = await sql<{ purchase_id: string }>`
    update purchases set missing_since = clock_timestamp()
    where (connection, business_id, purchase_id) in (
      select connection, business_id, purchase_id from purchases
      where connection = ${scope.connection} and business_id = ${scope.business_id}
        and missing_since is null and seen_by <> ${sync.syncId}
      limit ${BATCH})
    returning purchase_id`.execute(db);
  const events = rows.map(({ purchase_id }) => missingEvent(purchase_id, writer));
  await appendEvents(db, sync, events);
  return rows.length === BATCH;
}

export async function end(db: Queries, { syncId }: PurchaseSync): Promise<void> {
  await db
    .updateTable("purchase_syncs")
    .set({ completed_at: sql`clock_timestamp()` })
    .where("sync_id", "=", storableText(syncId))
    .where("completed_at", "is", null)
    .execute();
}
