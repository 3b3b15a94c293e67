import { sql } from "kysely";

import type { Pass, Purchase, PurchasesFindings, PurchasesHeld } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business, Chain } from "../events/chain.ts";
import { chainColumns, countBy, createMirror, type Mirror, WHOLE_WITHIN_MS } from "./mirror.ts";
import { hasValues } from "../statements.ts";
import { isCalendarDateIn, type ListedEntry, listPeriod, type PeriodOfOwner } from "./mirror-list.ts";
import type { PeriodRequest } from "./report-types.ts";

export const PURCHASES: Mirror = {
  table: "purchases",
  noun: "purchase",
  chainOf: (business) => business,
  date: "invoice_date",
  status: "status",
};

export type Purchases = ReturnType<typeof createPurchases>;

/** The supplier invoices of each business, as the Compliance API last showed them. */
export function createPurchases(database: Database) {
  return {
    ...createMirror<Purchase>(database, PURCHASES),
    /** The days of rows that are open as far as the ledger knows, and that were not seen since an instant. */
    daysOfChanged: (business: Business, sinceMs: number): Promise<Pass[]> =>
      database.transact((db) => daysOfChanged(db, chainColumns(PURCHASES, business), new Date(sinceMs))),
    /** Gives `read` those of a period, in pages and from one state; `read` runs once. @throws what `read` throws */
    list: <Result>(request: PeriodRequest, read: (businesses: PurchasesOfPeriod[]) => Promise<Result>) =>
      listPeriod<ListedPurchase, Figures, Result>(database, LIST, request, read),
    /** @param most so many are in each list of findings */
    summary: (business: Business, most: number) =>
      database.transact((db) => summary(db, business, most), WHOLE_WITHIN_MS),
  };
}

/** Asking for each of so many days costs less than reading all that is between them. */
const MOST_DAYS = 31;

async function daysOfChanged(db: Queries, chain: Chain, since: Date): Promise<Pass[]> {
  const { rows } = await sql<{ day: string }>`
    select distinct invoice_date as day from purchases
    where ${hasValues(chain)} and missing_since is null and status in ('pulled', 'pending_review')
      and observed_at < ${since} and ${isCalendarDateIn("invoice_date")}
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
  const ofBusiness = hasValues(chainColumns(PURCHASES, business));
  const present = sql`${ofBusiness} and missing_since is null`;
  const counted = await countBy(db, PURCHASES, business, sql`missing_since is null`);
  const errors = await sql<Counted<PurchasesFindings["confirmationErrors"]["first"][number]>>`
    select id as "purchaseId", supplier_invoice_number as "supplierInvoiceNumber",
      confirmation_error as "confirmationError", count(*) over () as of_all
    from purchases where ${present} and confirmation_error is not null
    order by invoice_date desc, id limit ${most}`.execute(db);
  const duplicates = await sql<Counted<PurchasesFindings["duplicates"]["first"][number]>>`
    select supplier_pin as "supplierPin", supplier_invoice_number as "supplierInvoiceNumber",
      (array_agg(id order by id))[1:${most}] as "purchaseIds", count(*) over () as of_all
    from purchases where ${present} and supplier_pin is not null
    group by supplier_pin, supplier_invoice_number having count(*) > 1
    order by supplier_pin, supplier_invoice_number limit ${most}`.execute(db);
  const missing = await sql<Counted<{ id: string }>>`
    select id, count(*) over () as of_all from purchases where ${ofBusiness} and missing_since is not null
    order by missing_since desc, id limit ${most}`.execute(db);
  const gone = firstOf(missing.rows);
  return {
    ...counted,
    confirmationErrors: firstOf(errors.rows),
    duplicates: firstOf(duplicates.rows),
    missing: { count: gone.count, first: gone.first.map(({ id }) => id) },
  };
}

type Counted<Found> = Found & { of_all: string };

function firstOf<Found>(rows: readonly Counted<Found>[]): { count: number; first: Omit<Counted<Found>, "of_all">[] } {
  return { count: Number(rows[0]?.of_all ?? 0), first: rows.map(({ of_all: _ofAll, ...found }) => found) };
}

/** A supplier invoice as the service showed it last. Amounts are exact decimal texts, in the currency of the service. */
export interface ListedPurchase extends ListedEntry {
  /** `-` for none. */
  businessId: string;
  purchaseId: string;
  /** The service's word. */
  status: string;
  supplierName: string | null;
  supplierPin: string | null;
  supplierInvoiceNumber: string;
  /** `YYYY-MM-DD`. */
  invoiceDate: string;
  /** Its name. */
  branch: string | null;
  subtotal: string;
  vat: string;
  total: string;
  /** By rate in percent, the highest first: the sums of the lines' tax and of their totals; none of an altered row. */
  rates: { taxRate: string; vat: string; lineTotal: string }[];
  confirmationError: string | null;
  /** Under other ids too: the same supplier's PIN and number. */
  moreThanOnce: boolean;
}

/** Of one status, apart those that are missing. */
export interface PurchaseSums {
  status: string;
  missing: boolean;
  count: number;
  subtotal: string;
  vat: string;
  total: string;
}

/** Of one status and one rate in percent, from the lines; apart those that are missing. Altered rows are in none. */
export interface PurchaseRateSums {
  status: string;
  missing: boolean;
  taxRate: string;
  /** Of purchases, not of lines. */
  count: number;
  vat: string;
  lineTotal: string;
}

interface Figures {
  sums: PurchaseSums[];
  /** By status as `sums`, within it the highest rate first. */
  rateSums: PurchaseRateSums[];
  /** The rates of all lines, the highest first. */
  taxRates: string[];
  /** How many are there under other ids too. */
  moreThanOnce: number;
}

export type PurchasesOfPeriod = PeriodOfOwner<ListedPurchase> & Figures;

/**
 * Among what is listed now: a number that was taken back is not there twice. The numbers that are there more than once
 * are found once for all rows, in what a query selects: as its condition they would be joined, and found for each row.
 */
function moreThanOnce(chain: Chain) {
  return sql<boolean>`coalesce(kept.missing_since is null and (kept.supplier_pin, kept.supplier_invoice_number) in (
    select supplier_pin, supplier_invoice_number from purchases
    where ${hasValues(chain)} and missing_since is null and supplier_pin is not null
    group by supplier_pin, supplier_invoice_number having count(*) > 1), false)`;
}

/** The body of a row that somebody has altered may be no purchase: it is not looked into. */
const LINES = sql`(
  select trim_scale((line->>'taxRate')::numeric) as rate, (line->>'taxAmount')::numeric as vat,
    (line->>'total')::numeric as line_total
  from jsonb_array_elements(case when kept.altered then '[]' else kept.body -> 'lines' end) as line)`;

const LIST = {
  mirror: PURCHASES,
  connectionOf: ({ connection }: Chain) => connection,
  order: sql`supplier_invoice_number, id`,
  columns: (chain: Chain) => sql`
    business_id as "businessId", id as "purchaseId", status, supplier_name as "supplierName",
    supplier_pin as "supplierPin", supplier_invoice_number as "supplierInvoiceNumber", invoice_date as "invoiceDate",
    branch, subtotal, vat, total, confirmation_error as "confirmationError", ${moreThanOnce(chain)} as "moreThanOnce",
    (select coalesce(json_agg(json_build_object('taxRate', rate::text, 'vat', vat::text, 'lineTotal', line_total::text)
        order by rate desc), '[]')
      from (select rate, sum(vat) as vat, sum(line_total) as line_total from ${LINES} as lines group by rate) as of_rate
    ) as rates`,
  async figures(db: Queries, rows: ReturnType<typeof sql>, chain: Chain): Promise<Figures> {
    const { rows: sums } = await sql<PurchaseSums>`
      select status, missing_since is not null as missing, count(*)::int as count, sum(subtotal) as subtotal,
        sum(vat) as vat, sum(total) as total
      from ${rows} group by 1, 2 order by 2, 1`.execute(db);
    const { rows: rateSums } = await sql<PurchaseRateSums>`
      select status, missing_since is not null as missing, rate::text as "taxRate", count(distinct id)::int as count,
        sum(lines.vat)::text as vat, sum(line_total)::text as "lineTotal"
      from ${rows}, lateral ${LINES} as lines group by 1, 2, rate order by 2, 1, rate desc`.execute(db);
    const { rows: twice } = await sql<{ count: number }>`
      select (count(*) filter (where ${moreThanOnce(chain)}))::int as count from ${rows}`.execute(db);
    const rates = new Set(rateSums.map(({ taxRate }) => taxRate));
    return {
      sums,
      rateSums,
      taxRates: [...rates].toSorted((one, other) => Number(other) - Number(one)),
      moreThanOnce: twice[0]?.count ?? 0,
    };
  },
};
