import { type RawBuilder, sql } from "kysely";

import { decimalText, NO_BUSINESS, type Purchase, sumText } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Row } from "../events/verify-rows.ts";
import type { KeptColumns, ListedEntry, PeriodOfOwner } from "../synced/collection.ts";
import type { PeriodList } from "../synced/list-period.ts";
import { ofOwner } from "../synced/rows.ts";
import type { RowOf } from "../tables.ts";
import { PURCHASES } from "./collection.ts";

/**
 * A supplier invoice as the service showed it last. Amounts are exact decimal texts, in the currency of the service.
 */
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
  /**
   * By rate in percent, the highest first: the sums of the lines' tax and of their totals; none of a row that was
   * altered.
   */
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

export interface PurchasesOfPeriod extends PeriodOfOwner<ListedPurchase> {
  sums: PurchaseSums[];
  /** By status as `sums`, within it the highest rate first. */
  rateSums: PurchaseRateSums[];
  /** The rates of all lines, the highest first. */
  taxRates: string[];
  /** How many are there under other ids too. */
  moreThanOnce: number;
}

type Figures = Omit<PurchasesOfPeriod, keyof PeriodOfOwner<never>>;

/**
 * Among what is listed now: a number that was taken back is not there twice. The numbers that are there more than once
 * are found once for all rows, in what a query selects: as its condition they would be joined, and found for each row.
 */
function moreThanOnce(owner: Row): RawBuilder<boolean> {
  return sql<boolean>`kept.missing_since is null and (kept.supplier_pin, kept.supplier_invoice_number) in (
    select supplier_pin, supplier_invoice_number from purchases
    where ${ofOwner(owner)} and missing_since is null and supplier_pin is not null
    group by supplier_pin, supplier_invoice_number having count(*) > 1)`;
}

export const PURCHASE_LIST: PeriodList<Purchase, ListedPurchase, Figures> = {
  collection: PURCHASES,
  order: sql`supplier_invoice_number, purchase_id`,
  beside: moreThanOnce,
  listed(row, { connection, businessId = NO_BUSINESS }, altered) {
    const kept = row as KeptColumns & RowOf<"purchases">;
    return {
      connection,
      businessId,
      purchaseId: kept.purchase_id,
      status: kept.status,
      supplierName: kept.supplier_name,
      supplierPin: kept.supplier_pin,
      supplierInvoiceNumber: kept.supplier_invoice_number,
      invoiceDate: kept.invoice_date,
      branch: kept.branch,
      subtotal: kept.subtotal,
      vat: kept.vat,
      total: kept.total,
      // Whoever alters a row may write into its body what is no purchase.
      rates: altered ? [] : ratesOf(JSON.parse(row.body) as Purchase),
      confirmationError: kept.confirmation_error,
      moreThanOnce: row["beside"] === true,
      missingSinceMs: row.missing_since?.getTime() ?? null,
      altered,
    };
  },
  figures: async (db, rows, owner, altered) => {
    const { rows: sums } = await sql<Omit<PurchaseSums, "count"> & { count: string }>`
      select status, missing_since is not null as missing, count(*), sum(subtotal) as subtotal, sum(vat) as vat,
        sum(total) as total
      from ${rows} group by 1, 2 order by 2, 1`.execute(db);
    const { rows: twice } = await sql<{ count: string }>`
      select count(*) filter (where ${moreThanOnce(owner)}) from ${rows}`.execute(db);
    return {
      sums: sums.map((row) => ({ ...row, count: Number(row.count) })),
      rateSums: await rateSums(db, rows, altered),
      taxRates: await taxRates(db, rows),
      moreThanOnce: Number(twice[0]?.count),
    };
  },
};

/** The body of an altered row may be no JSON: it is not looked into. */
async function rateSums(
  db: Queries,
  rows: Parameters<typeof PURCHASE_LIST.figures>[1],
  altered: ReadonlySet<string>,
): Promise<PurchaseRateSums[]> {
  const { rows: sums } = await sql<Omit<PurchaseRateSums, "count"> & { count: string }>`
    select status, missing_since is not null as missing, trim_scale((line->>'taxRate')::numeric)::text as "taxRate",
      count(distinct purchase_id), sum((line->>'taxAmount')::numeric)::text as vat,
      sum((line->>'total')::numeric)::text as "lineTotal"
    from ${rows}, jsonb_array_elements(
      case when purchase_id = any(${[...altered]}::text[]) then '[]' else body::jsonb->'lines' end) as line
    group by 1, 2, 3 order by 2, 1, max((line->>'taxRate')::numeric) desc`.execute(db);
  return sums.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Found in the text, which a row that somebody has altered may have spoiled. */
async function taxRates(db: Queries, rows: Parameters<typeof PURCHASE_LIST.figures>[1]): Promise<string[]> {
  const found = await sql<{ rate: string }>`
    select distinct rate[1] as rate from ${rows}, regexp_matches(body, '"taxRate":([-+.0-9eE]+)', 'g') as rate`.execute(
    db,
  );
  return descending(new Set(found.rows.map(({ rate }) => decimalText(Number(rate)))));
}

function ratesOf({ lines }: Purchase): ListedPurchase["rates"] {
  return descending(new Set(lines.map(({ taxRate }) => decimalText(taxRate)))).map((taxRate) => {
    const ofRate = lines.filter((line) => decimalText(line.taxRate) === taxRate);
    return {
      taxRate,
      vat: sumText(ofRate.map(({ taxAmount }) => taxAmount)),
      lineTotal: sumText(ofRate.map(({ total }) => total)),
    };
  });
}

function descending(rates: Iterable<string>): string[] {
  return [...rates].toSorted((one, other) => Number(other) - Number(one));
}
