import type {
  CompletePurchasesSync,
  Purchase,
  PurchasesFindings,
  PurchasesSync,
  PurchasesWindow,
} from "../../contract/index.ts";
import type { Business, Writer } from "../events/chain.ts";
import type { RowFindings } from "../rows/row-findings.ts";
import type { KeepPageRequest, KeptEntry, KeptPage, Synced } from "../synced/collection.ts";

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
  summary(business: Business, most: number): Promise<PurchaseSummary>;
}
