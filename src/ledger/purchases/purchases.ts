import type { Purchase, PurchasesWindow } from "../../contract/index.ts";
import type { Business, Writer } from "../events/chain.ts";
import type { PurchasesReport } from "./verify.ts";

/** What the room says about supplier invoices: types alone. */

export type PurchaseScope = Business;

/**
 * - `recent`: newest first until known ground
 * - `full`: the whole list
 * - `window`: from a day on
 */
export type PurchaseSyncKind = "recent" | "full" | "window";

/** A synchronisation, from its first page to its last, over however many runs of its workflow. */
export interface PurchaseSync extends PurchaseScope {
  syncId: string;
  kind: PurchaseSyncKind;
}

export interface KeepPageRequest extends PurchaseScope {
  syncId: string;
  /**
   * `list`: the page is one of the whole list, in its order; `part`: of a part of it. A row that only a part has shown is no known
   * ground, since what stands around it in the list may not have been seen.
   */
  pass: "list" | "part";
  /** In the order of the page. */
  purchases: readonly Purchase[];
  /** The ids of rows of the page that are not of their form: what is kept of them stands, and they have not vanished. */
  leftOut?: readonly string[] | undefined;
  /** When the page was asked for, by {@link Purchases.now}: what was asked for earlier never replaces what was asked for later. */
  askedAtMs: number;
  writer: Writer;
}

export interface KeptPage {
  rows: number;
  added: number;
  changed: number;
  /** How many rows at the end of the page, without a gap, a completed synchronisation had listed before. */
  knownAtEnd: number;
}

/** One supplier invoice under two ids (architecture: a purchase is known by its id). */
export interface DuplicatePurchase {
  supplierPin: string;
  supplierInvoiceNumber: string;
  purchaseIds: string[];
}

export interface PurchaseWithError {
  purchaseId: string;
  supplierInvoiceNumber: string;
  confirmationError: string;
}

/** What the ledger holds of a business. Lists are cut at the number that was asked for; counts are not. */
export interface PurchaseSummary {
  total: number;
  /** By the service's own words; only those that occur. */
  byStatus: Record<string, number>;
  confirmationErrors: { count: number; first: PurchaseWithError[] };
  duplicates: { count: number; first: DuplicatePurchase[] };
  /** Once there, and not in the list of the latest full synchronisation. Not counted in `total`. */
  missing: { count: number; first: string[] };
}

export interface KeptPurchase {
  purchase: Purchase;
  firstSeenAtMs: number;
  changedAtMs: number;
  missingSinceMs: number | null;
  writer: Writer;
}

export interface PurchaseChange {
  atMs: number;
  what: "first-seen" | "status" | "confirmation-error" | "content" | "missing" | "returned";
  before: unknown;
  after: unknown;
  writer: Writer;
}

/**
 * The supplier invoices of each business, as the Compliance API last showed them, with the history of what changed. Every write may be
 * repeated. Every function throws LedgerUnavailableError when nothing can be said, and may then be called again as it was.
 */
export interface Purchases {
  /** The database's clock (Unix milliseconds): the workers of a fleet have clocks of their own. */
  now(): Promise<number>;
  begin(sync: PurchaseSync): Promise<void>;
  keepPage(request: KeepPageRequest): Promise<KeptPage>;
  /** Rows that are not known to be missing and that no page of this synchronisation has shown. */
  unseen(sync: PurchaseSync): Promise<number>;
  /** The days of rows that are open as far as the ledger knows, and that this synchronisation has not seen among what is open. */
  windowsOfChanged(sync: PurchaseSync): Promise<PurchasesWindow[]>;
  /**
   * What this synchronisation listed is known ground from now on; after a full one, what it did not see is missing, unless a row had no
   * id that could be read (`unidentified`): that one could be any.
   */
  complete(sync: PurchaseSync & { unidentified?: boolean | undefined }, writer: Writer): Promise<void>;
  summary(scope: PurchaseScope, most: number): Promise<PurchaseSummary>;
  /** By id, `most` at a time, those that are missing among them. */
  page(scope: PurchaseScope, request: { afterId?: string | undefined; most: number }): Promise<KeptPurchase[]>;
  /** Holds each row against the event that it was written with. `businessId` is `-` for none. */
  verify(business: { connection: string; businessId: string }): Promise<PurchasesReport>;
  /** Oldest first. */
  history(scope: PurchaseScope, purchaseId: string): Promise<PurchaseChange[]>;
}
