import type { Refusal } from "./calls.ts";
import type { AccountingProfile, AccountingTarget, ConnectionProfile } from "./connection.ts";

/** Read page by page from a service into the ledger, which is a mirror of them. */
export type CollectionName = "purchases" | "billPayments";

/**
 * - `recent`: the latest first, until known ground
 * - `full`: the whole list, and what is not in it any more; the first of all is a full one
 * - `window`: all purchases from a day on
 */
export type SyncKind = "recent" | "full" | "window";

/** One synchronisation, over however many runs of its workflow. */
export interface Sync {
  collection: CollectionName;
  connection: string;
  businessId?: string | undefined;
  syncId: string;
  kind: SyncKind;
}

/** How a synchronisation begins, the same for a run that was reset. Times are of the ledger's clock. */
export interface BegunSync {
  /** Without known ground a recent one becomes a full one. */
  kind: SyncKind;
  startedAtMs: number;
  /** What has not changed since then is known ground: what stands below it in the list is in the ledger. */
  knownUntilMs?: number;
  /** As {@link CompleteSyncRequest.leftOut}, of the synchronisation that made the known ground. */
  leftOut?: Record<string, number>;
}

export interface Pass {
  /** Only what has this status; absent: all. */
  status?: string | undefined;
  /** Only the purchases of these days, `YYYY-MM-DD`, both of which belong to it. */
  from?: string | undefined;
  to?: string | undefined;
  /**
   * It ends at the first page that has only known ground: what is in the ledger as the page shows it, unchanged since
   * then. Absent: it ends with the list.
   */
  knownUntilMs?: number | undefined;
}

export interface PageRequest extends Pass {
  cursor?: string | undefined;
}

/** What became of a page. Its rows are in the ledger and nowhere else. */
export interface KeptPageResult {
  kind: "page";
  rows: number;
  added: number;
  changed: number;
  known: boolean;
  /** Rows that are not of their form, and that the ledger does not know; absent if there is none. */
  leftOut?: number;
  /** One of them has no id that can be read: it could be any. */
  unidentified?: true;
  /** `null` on the last page. */
  nextCursor: string | null;
  /** How many rows the list has, as the service says; absent if it does not. */
  total?: number | undefined;
  /** The same for two pages that hold the same rows in the same order; absent if there are none. */
  fingerprint?: string;
  /** By the clock of the ledger. */
  askedAtMs: number;
}

export interface SyncProgress {
  kind: SyncKind;
  /** How often the whole list is read, the present time included; 0 if it is not. */
  round: number;
  pages: number;
  rows: number;
  added: number;
  changed: number;
  /** As {@link KeptPageResult}, as often as they were read. `fiscalflow doctor` names the field. */
  leftOut?: number;
}

/** What the ledger holds now, without what is missing: once listed, and not by the latest full synchronisation. */
interface Held {
  total: number;
  byStatus: Record<string, number>;
}

/** What was seen since an instant; by status, `none` for none. */
export interface CountedSync extends Held {
  /** Listed once, and not seen since then. */
  unseen: number;
}

export interface CompleteSyncRequest extends Sync {
  /** Whether what was seen is as many as the service counts. */
  settled: boolean;
  /** Everything up to here is known ground from now on, unless it is a recent one that has not settled. */
  knownUntilMs?: number | undefined;
  /** How many rows of each list could not be read and are not in the ledger: the service counts them. */
  leftOut: Record<string, number>;
  /** What was not seen since then is gone. Absent: nothing is known to be gone. */
  goneBeforeMs?: number | undefined;
  /** Whether lists of single statuses were read, so that what is in none of them has none. */
  withStatuses: boolean;
}

export interface PreparedPurchasesSync {
  profile: ConnectionProfile;
  kind: SyncKind;
  from?: string;
  /** Those of invoices that may still change; none if the dialect has no name for the filter. */
  statuses: readonly string[];
}

export type PullPurchasesResult = { kind: "pulled" } | Refusal;

/** What is worth an operator's look, counted in the ledger after a synchronisation. Lists are cut, counts are not. */
export interface PurchasesFindings {
  /** One supplier's PIN and number under two ids. */
  duplicates: { count: number; first: { supplierPin: string; supplierInvoiceNumber: string; purchaseIds: string[] }[] };
  confirmationErrors: {
    count: number;
    first: { purchaseId: string; supplierInvoiceNumber: string; confirmationError: string }[];
  };
  /** Once listed, and not in the list of the latest full synchronisation. */
  missing: { count: number; first: string[] };
}

export interface PurchasesHeld extends Held {
  findings: PurchasesFindings;
}

export interface SyncPurchasesOutcome extends SyncProgress, PurchasesHeld {}

/** Signal `syncRequested`. */
export interface SyncRequested {
  full?: boolean;
}

export interface PreparedBillPaymentsSync {
  profile: AccountingProfile;
  kind: SyncKind;
  /** The statuses that can be asked for; none if the dialect has no name for the filter. */
  statuses: readonly BillPaymentStatus[];
}

export interface BillPaymentsSampleRequest extends AccountingTarget {
  status: BillPaymentStatus;
}

/** `ids`: of the latest payments that the list has; a few. */
export type BillPaymentsSampleResult = { kind: "sample"; ids: string[] } | Refusal;

/** Of a connection; by status, `none` for what is in the list of all, and in no list of a status. */
export interface BillPaymentsHeld extends Held {
  missing: number;
}

export interface SyncBillPaymentsOutcome extends SyncProgress, BillPaymentsHeld {
  /**
   * Whether the service counts what the ledger holds, without rows that cannot be read. Where not, rows moved faster
   * than they could be read, or went: a full synchronisation finds it.
   */
  settled: boolean;
}

/**
 * A payment made against supplier bills (Accounting Service, "Resources and their fields"). Which fields are required is
 * not shown, so that only the id is certain; all fields are kept as they came.
 */
export interface BillPayment {
  id: string;
  /** YYYY-MM-DD */
  date?: string | null | undefined;
  updatedAt?: string | null | undefined;
  [field: string]: unknown;
}

/** Accounting Service, "States and transitions": in the order in which a payment probably goes through them. */
export const BILL_PAYMENT_STATUSES = ["pending", "syncing", "failed", "synced"] as const;

/** No field of a payment: it is learned by asking for the payments of each status. */
export type BillPaymentStatus = (typeof BILL_PAYMENT_STATUSES)[number];

/** "Limits": the numeric paging input is at most 100. */
export const LARGEST_BILL_PAYMENT_PAGE = 100;
