import { sql } from "kysely";

import type { Pass, Purchase, PurchasesFindings, PurchasesHeld } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import type { KeptEntry, PeriodRequest } from "../synced/collection.ts";
import { createSynced, keptEntry, WHOLE_WITHIN_MS } from "../synced/create-synced.ts";
import { isCalendarDateIn, listPeriod } from "../synced/list-period.ts";
import { countBy, ofOwner } from "../synced/rows.ts";
import { verifyCollection } from "../synced/verify.ts";
import { PURCHASES } from "./collection.ts";
import { PURCHASE_LIST, type PurchasesOfPeriod } from "./list.ts";

export type KeptPurchase = KeptEntry<Purchase>;

/** The supplier invoices of each business, as the Compliance API last showed them. */
export function createPurchases(database: Database) {
  const { rows, ...synced } = createSynced(database, PURCHASES);
  return {
    ...synced,
    page: async (business: Business, request: Parameters<typeof rows>[1]) =>
      (await rows(business, request)).map(keptEntry<Purchase>),
    /** The days of rows that are open as far as the ledger knows, and that were not seen since an instant. */
    daysOfChanged: (business: Business, sinceMs: number): Promise<Pass[]> =>
      database.transact((db) => daysOfChanged(db, business, new Date(sinceMs))),
    /** Gives `read` those of a period, in pages and from one state; `read` runs once. @throws what `read` throws */
    list: <Result>(request: PeriodRequest, read: (businesses: PurchasesOfPeriod[]) => Promise<Result>) =>
      listPeriod(database, PURCHASE_LIST, request, read),
    /** @param most so many are in each list of findings */
    summary: (business: Business, most: number) =>
      database.transact((db) => summary(db, business, most), WHOLE_WITHIN_MS),
    /** Holds each row against the events of its chain. `businessId` is `-` for none. */
    async verify({ connection, businessId }: { connection: string; businessId: string }) {
      const chain = { connection, business_id: businessId };
      const { rows: purchases, ...found } = await verifyCollection(database, PURCHASES, chain);
      return { purchases, ...found };
    },
  };
}

function presentOf(business: Business) {
  return sql<boolean>`${ofOwner(businessColumns(business))} and missing_since is null`;
}

/** Asking for each of so many days costs less than reading all that is between them. */
const MOST_DAYS = 31;

async function daysOfChanged(db: Queries, business: Business, since: Date): Promise<Pass[]> {
  const { rows } = await sql<{ day: string }>`
    select distinct invoice_date as day from purchases
    where ${presentOf(business)} and status in ('pulled', 'pending_review') and observed_at < ${since}
      and ${isCalendarDateIn("invoice_date")}
    order by day`.execute(db);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (rows.length > MOST_DAYS) return [{ from: first.day, to: last.day }];
  return rows.map(({ day }) => ({ from: day, to: day }));
}

/** What the ledger holds without what is missing, and what is worth a look; lists are cut, counts are not. */
async function summary(
  db: Queries,
  business: Business,
  most: number,
): Promise<Omit<PurchasesHeld, "findings"> & PurchasesFindings> {
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
