import { sql } from "kysely";

import type { Purchase, PurchasesSync, PurchasesWindow } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import { createSynced, keptEntry } from "../synced/create-synced.ts";
import { keepPage } from "../synced/keep-page.ts";
import { isCalendarDateIn, listPeriod } from "../synced/list-period.ts";
import { BATCH, countBy, end, lock, markMissing, ofOwner } from "../synced/rows.ts";
import { verifyCollection } from "../synced/verify.ts";
import { PURCHASES } from "./collection.ts";
import { PURCHASE_LIST } from "./list.ts";
import type { KeepPurchasesRequest, KeptPurchasesPage, Purchases, PurchaseSummary } from "./purchases.ts";

/** Looking at every purchase of a business takes longer than one operation where there are very many. */
const WHOLE_WITHIN_MS = 20_000;

/**
 * Each operation is one transaction, which may run again after a broken connection; `complete` is several, each of
 * which may.
 */
export function createPurchases(database: Database): Purchases {
  const { rows, ...synced } = createSynced(database, PURCHASES);
  return {
    ...synced,
    page: async (business, request) => (await rows(business, request)).map(keptEntry<Purchase>),
    keepPage: (request) => database.transact((db) => keep(db, request)),
    unseen: (sync) => database.transact((db) => unseen(db, sync)),
    windowsOfChanged: (sync) => database.transact((db) => windowsOfChanged(db, sync)),
    async complete(sync, writer) {
      if (sync.kind === "full" && sync.unidentified !== true)
        while (
          await database.transact((db) => markMissing(db, PURCHASES, sync, notSeenBy(sync), writer), WHOLE_WITHIN_MS)
        );
      // A window says nothing of what is older, so its end is not known ground.
      if (sync.kind !== "window") while (await database.transact((db) => groundSome(db, sync)));
      await database.transact((db) => end(db, PURCHASES, sync.syncId));
    },
    list: (request, read) => listPeriod(database, PURCHASE_LIST, request, read),
    summary: (business, most) => database.transact((db) => summary(db, business, most), WHOLE_WITHIN_MS),
    async verify({ connection, businessId }) {
      const chain = { connection, business_id: businessId };
      const { rows: purchases, ...found } = await verifyCollection(database, PURCHASES, chain);
      return { purchases, ...found };
    },
  };
}

async function keep(db: Queries, request: KeepPurchasesRequest): Promise<KeptPurchasesPage> {
  // What is left out is counted as often as it is read, known or not.
  const { known, leftOutKnown: _leftOutKnown, ...kept } = await keepPage(db, PURCHASES, request);
  const { entries } = request;
  const lastUnknown = entries.findLastIndex(({ id }) => known.get(storableText(id))?.["grounded"] !== true);
  return { ...kept, knownAtEnd: entries.length - 1 - lastUnknown };
}

function notSeenBy({ syncId }: PurchasesSync) {
  return sql<boolean>`seen_by is distinct from ${syncId}`;
}

function presentOf(business: Business) {
  return sql<boolean>`${ofOwner(businessColumns(business))} and missing_since is null`;
}

async function unseen(db: Queries, sync: PurchasesSync): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from purchases where ${presentOf(sync)} and ${notSeenBy(sync)}`.execute(db);
  return Number(rows[0]?.count);
}

/** Asking for each of so many days costs less than reading all that is between them. */
const MOST_DAYS = 31;

async function windowsOfChanged(db: Queries, sync: PurchasesSync): Promise<PurchasesWindow[]> {
  const { rows } = await sql<{ day: string }>`
    select distinct invoice_date as day from purchases
    where ${presentOf(sync)} and status in ('pulled', 'pending_review') and ${notSeenBy(sync)}
      and ${isCalendarDateIn("invoice_date")}
    order by day`.execute(db);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (rows.length > MOST_DAYS) return [{ from: first.day, to: last.day }];
  return rows.map(({ day }) => ({ from: day, to: day }));
}

/** True while there are more: to be called again. */
async function groundSome(db: Queries, sync: PurchasesSync): Promise<boolean> {
  const owner = businessColumns(sync);
  await lock(db, PURCHASES, owner);
  const { rows } = await sql`
    update purchases set grounded = true
    where (connection, business_id, purchase_id) in (
      select connection, business_id, purchase_id from purchases
      where ${ofOwner(owner)} and listed_by = ${sync.syncId} and not grounded
      limit ${BATCH})
    returning 1`.execute(db);
  return rows.length === BATCH;
}

async function summary(db: Queries, business: Business, most: number): Promise<PurchaseSummary> {
  const present = presentOf(business);
  const counted = await countBy(db, PURCHASES, businessColumns(business), sql`missing_since is null`, sql`status`);
  const errors = await sql<{ purchase_id: string; number: string; error: string; count: string }>`
    select purchase_id, supplier_invoice_number as number, confirmation_error as error, count(*) over () as count
    from purchases where ${present} and confirmation_error is not null
    order by invoice_date desc, purchase_id limit ${most}`.execute(db);
  const duplicates = await sql<{ pin: string; number: string; ids: string[]; count: string }>`
    select supplier_pin as pin, supplier_invoice_number as number, array_agg(purchase_id order by purchase_id) as ids,
      count(*) over () as count
    from purchases where ${present} and supplier_pin is not null
    group by supplier_pin, supplier_invoice_number having count(*) > 1
    order by supplier_pin, supplier_invoice_number limit ${most}`.execute(db);
  const missing = await sql<{ purchase_id: string; count: string }>`
    select purchase_id, count(*) over () as count
    from purchases where ${ofOwner(businessColumns(business))} and missing_since is not null
    order by missing_since desc, purchase_id limit ${most}`.execute(db);
  return {
    ...counted,
    confirmationErrors: {
      count: countOf(errors.rows),
      first: errors.rows.map(({ purchase_id: purchaseId, number, error }) => ({
        purchaseId,
        supplierInvoiceNumber: number,
        confirmationError: error,
      })),
    },
    duplicates: {
      count: countOf(duplicates.rows),
      first: duplicates.rows.map(({ pin, number, ids }) => ({
        supplierPin: pin,
        supplierInvoiceNumber: number,
        purchaseIds: ids.slice(0, most),
      })),
    },
    missing: { count: countOf(missing.rows), first: missing.rows.map(({ purchase_id }) => purchase_id) },
  };
}

function countOf(rows: readonly { count: string }[]): number {
  return Number(rows[0]?.count ?? 0);
}
