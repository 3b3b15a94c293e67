import type { AccountingProfile, AccountingTarget } from "./accounting-connection.ts";
import type { BillPaymentStatus } from "./bill-payment.ts";
import type { CallTarget, Refusal } from "./calls.ts";
import type { ConnectionProfile } from "./connection.ts";

/** Collections that are read page by page from a service into the ledger: purchases and bill payments. */

/** One synchronisation, over however many runs of its workflow. */
interface Sync<Kind> {
  syncId: string;
  kind: Kind;
}

/** What became of a page. Its rows are in the ledger and nowhere else. */
export interface KeptPageResult {
  kind: "page";
  rows: number;
  added: number;
  changed: number;
  /**
   * Rows that are not of their form (of bill payments, those that the ledger does not know); absent where there is
   * none.
   */
  leftOut?: number;
  /** One of them has no id that can be read: it could be any. */
  unidentified?: true;
}

/** What has been read so far. */
export interface SyncProgress {
  pages: number;
  rows: number;
  added: number;
  changed: number;
  /** As {@link KeptPageResult}, as often as they were read. `fiscalflow doctor` names the field. */
  leftOut?: number;
}

/** What the ledger holds now. */
interface Held {
  /** Without what is missing: once listed, and not by the latest full synchronisation. */
  total: number;
  byStatus: Record<string, number>;
}

/** Input of the `syncPurchases` workflow. */
export interface SyncPurchasesInput {
  connection?: string;
  businessId?: string;
  /** Only invoices of that day (`YYYY-MM-DD`) and later: the whole of that window is read. */
  from?: string;
  /** The whole list, and what is not in it any more. */
  full?: boolean;
}

/**
 * - `recent`: newest first until known ground, then every invoice that may still change
 * - `full`: the whole list
 * - `window`: all from a day on
 */
export type PurchasesSyncKind = "recent" | "full" | "window";

export interface PurchasesSync extends Sync<PurchasesSyncKind>, Pick<CallTarget, "connection" | "businessId"> {}

/** `unidentified`: a row had no id that can be read, so nothing that was not seen is known to have vanished. */
export interface CompletePurchasesSync extends PurchasesSync {
  unidentified?: boolean | undefined;
}

export interface PreparedPurchasesSync {
  profile: ConnectionProfile;
  kind: PurchasesSyncKind;
  from?: string;
}

/**
 * Which part of the list is read: all of it in its order, one status, or (`changed`) the days of invoices that were
 * open and are not any more, since only the list says what became of them.
 */
export type PurchasesPass = "list" | "pulled" | "pending_review" | "changed";

/** Days, `YYYY-MM-DD`, both of which belong to it. */
export interface PurchasesWindow {
  from: string;
  to: string;
}

export interface PurchasesPageRequest extends CallTarget {
  syncId: string;
  pass: PurchasesPass;
  /** Of the page before, unchanged. */
  cursor?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export interface PurchasesPage extends KeptPageResult {
  /** Rows at the end of the page, without a gap, that an earlier synchronisation has listed. */
  knownAtEnd: number;
  /** `null` on the last page. */
  nextCursor: string | null;
  /** The same for two pages that hold the same rows in the same order; absent where there are none. */
  fingerprint?: string;
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

export interface PurchasesProgress extends SyncProgress {
  kind: PurchasesSyncKind;
}

export interface PurchasesHeld extends Held {
  findings: PurchasesFindings;
}

/** Result of the `syncPurchases` workflow. */
export interface SyncPurchasesOutcome extends PurchasesProgress, PurchasesHeld {}

/** Input of the `syncBillPayments` workflow. */
export interface SyncBillPaymentsInput {
  connection?: string;
  /** Every payment, and what is not listed any more. */
  full?: boolean;
}

/**
 * Signal `syncRequested`: something has changed at the service, or somebody wants the ledger to be brought up to it.
 */
export interface SyncRequested {
  full?: boolean;
}

/**
 * - `recent`: by `updatedAt`, newest first, until known ground
 * - `full`: every payment, in rounds
 */
export type BillPaymentsSyncKind = "recent" | "full";

export interface BillPaymentsSync extends Sync<BillPaymentsSyncKind>, AccountingTarget {}

/** What earlier synchronisations say of what the service has. */
export interface BillPaymentsGround {
  /**
   * Up to which `updatedAt` (Unix milliseconds) everything has been read; absent before the first full synchronisation.
   */
  knownUntilMs?: number;
  /** As {@link CompleteBillPaymentsRequest.leftOut}, of the last synchronisation that settled. */
  leftOut?: number[];
}

export interface PreparedBillPaymentsSync {
  profile: AccountingProfile;
  kind: BillPaymentsSyncKind;
  /** The statuses that can be asked for; none where the dialect has no name for the filter. */
  statuses: readonly BillPaymentStatus[];
}

/**
 * The order in which a list is read: by `createdAt` no change moves a row; by `updatedAt` the latest changes come
 * first.
 */
export type BillPaymentsOrder = "created" | "latest";

export interface BillPaymentsPageRequest extends AccountingTarget {
  order: BillPaymentsOrder;
  /** Absent: all payments. */
  status?: BillPaymentStatus | undefined;
  /** From 1. */
  page: number;
  /** Names the round of a full synchronisation; absent for what is read by `latest`. */
  round?: string | undefined;
}

/** Times are Unix milliseconds, absent where the rows have none. */
export interface BillPaymentsPage extends KeptPageResult {
  /** How many payments the list has, as the service says; absent where it says that there is no such page any more. */
  total?: number | undefined;
  hasNextPage: boolean;
  /** The same for two pages that hold the same rows in the same order; absent where there are none. */
  fingerprint?: string | undefined;
  /** By the clock of the ledger. */
  askedAtMs: number;
  newestCreatedMs?: number | undefined;
  /** Of those that are not of the future, by `askedAtMs`; where all are, `askedAtMs`. */
  newestUpdatedMs?: number | undefined;
  oldestUpdatedMs?: number | undefined;
}

/** A look at the list of one status, of which nothing is kept. */
export interface BillPaymentsSampleRequest extends AccountingTarget {
  status: BillPaymentStatus;
}

/** `ids`: of the oldest payments that the list has; a few. */
export type BillPaymentsSampleResult = { kind: "sample"; ids: string[] } | Refusal;

export interface CompareRoundRequest extends AccountingTarget {
  round: string;
  startedAtMs: number;
  /** When the synchronisation asked for its first page. */
  syncStartedAtMs: number;
  /** The newest `createdAt` of the list of all when its end was read. */
  reachMs?: number | undefined;
  /** Whether lists of single statuses were read. */
  withStatuses: boolean;
}

/** How many payments were seen since an instant; by status, `none` for none. */
export type SeenBillPayments = Held;

/** What two passes over everything say of each other. */
export interface RoundComparison {
  /**
   * Listed with a status, and missed by the list of all although they were there when it was read: it may have missed
   * more.
   */
  missedByList: number;
  /** In the list of all, and for the first time in no list of a status. */
  missedByStatuses: number;
  sinceRound: SeenBillPayments;
  /** Since the synchronisation began: in any of its rounds. */
  sinceStart: SeenBillPayments;
}

export interface CompleteBillPaymentsRequest extends BillPaymentsSync {
  settled: boolean;
  /** Everything up to this `updatedAt` is known ground from now on, unless it is a recent one that has not settled. */
  knownUntilMs?: number | undefined;
  /**
   * How many rows of each list, that of all first, could not be read and are not in the ledger: the service counts
   * them.
   */
  leftOut?: number[] | undefined;
  round?: { name: string; startedAtMs: number } | undefined;
}

/** Of a connection; by status, `none` for what is in the list of all, and in no list of a status. */
export interface BillPaymentsHeld extends Held {
  missing: number;
}

export interface BillPaymentsProgress extends SyncProgress {
  kind: BillPaymentsSyncKind;
  /** Of a full one: how often everything is read, the present time included. */
  round: number;
}

/** Result of the `syncBillPayments` workflow. */
export interface SyncBillPaymentsOutcome extends BillPaymentsProgress, BillPaymentsHeld {
  /**
   * Whether what the service counts, without rows that cannot be read, is what the ledger holds, and, of a full
   * synchronisation, its passes agreed. Where not, rows moved faster than they could be read, or went: a full
   * synchronisation finds it.
   */
  settled: boolean;
}
