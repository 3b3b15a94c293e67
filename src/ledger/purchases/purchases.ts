import type {
  CompletePurchasesSync,
  Purchase,
  PurchasesFindings,
  PurchasesSync,
  PurchasesWindow,
} from "../../contract/index.ts";
import type { Business, Writer } from "../events/chain.ts";
import type { RowFindings } from "../rows/row-findings.ts";
import type {
  KeepPageRequest,
  KeptEntry,
  KeptPage,
  ListedEntry,
  PeriodOfOwner,
  PeriodRequest,
  Synced,
} from "../synced/collection.ts";

/** The interface of the ledger for supplier invoices: types alone. */

export interface PurchasesAsked extends Business {
  syncId: string;
  /**
   * `list`: the page is one of the whole list, in its order; `part`: of a part of it. A row that only a part has shown
   * is no known ground, since what stands around it in the list may not have been seen.
   */
  pass: "list" | "part";
}

export type KeepPurchasesRequest = KeepPageRequest<Purchase, PurchasesAsked>;

export interface KeptPurchasesPage extends KeptPage {
  /** How many rows at the end of the page, without a gap, a completed synchronisation had listed before. */
  knownAtEnd: number;
}

/** What the ledger holds of a business. Lists are cut at the number that was asked for; counts are not. */
export interface PurchaseSummary extends PurchasesFindings {
  /** Without those that are missing. */
  total: number;
  /** By the service's own words; only those that occur. */
  byStatus: Record<string, number>;
}

export type KeptPurchase = KeptEntry<Purchase>;

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

/** The supplier invoices of each business, as the Compliance API last showed them. */
export interface Purchases extends Synced<Purchase, PurchasesAsked, Business, PurchasesSync> {
  keepPage(request: KeepPurchasesRequest): Promise<KeptPurchasesPage>;
  verify(chain: { connection: string; businessId: string }): Promise<RowFindings & { purchases: number }>;
  /** Rows that are not known to be missing and that no page of this synchronisation has shown. */
  unseen(sync: PurchasesSync): Promise<number>;
  /**
   * The days of rows that are open as far as the ledger knows, and that this synchronisation has not seen among what is
   * open.
   */
  windowsOfChanged(sync: PurchasesSync): Promise<PurchasesWindow[]>;
  /**
   * What this synchronisation listed is known ground from now on; after a full one, what it did not see is missing,
   * unless a row had no id that could be read (`unidentified`): that one could be any.
   */
  complete(sync: CompletePurchasesSync, writer: Writer): Promise<void>;
  /** Gives `read` those of a period, in pages and from one state; `read` runs once. @throws what `read` throws */
  list<Result>(request: PeriodRequest, read: (businesses: PurchasesOfPeriod[]) => Promise<Result>): Promise<Result>;
  summary(business: Business, most: number): Promise<PurchaseSummary>;
}
