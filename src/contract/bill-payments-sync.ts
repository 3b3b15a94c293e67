import type { AccountingProfile, AccountingTarget } from "./accounting-connection.ts";
import type { BillPaymentStatus } from "./bill-payment.ts";
import type { Refusal } from "./calls.ts";

/** Input of the `syncBillPayments` workflow. */
export interface SyncBillPaymentsInput {
  connection?: string;
  /** Every payment, and what is not listed any more. */
  full?: boolean;
}

/** Signal `syncRequested`: something has changed at the service, or somebody wants the ledger to be brought up to it. */
export interface SyncRequested {
  full?: boolean;
}

/**
 * - `recent`: by `updatedAt`, newest first, until known ground
 * - `full`: every payment, in rounds
 */
export type BillPaymentsSyncKind = "recent" | "full";

export interface PreparedBillPaymentsSync {
  profile: AccountingProfile;
  kind: BillPaymentsSyncKind;
  /** The statuses that can be asked for; none where the dialect has no name for the filter. */
  statuses: readonly BillPaymentStatus[];
}

/** One synchronisation, over however many runs of its workflow. */
export interface BillPaymentsSync extends AccountingTarget {
  syncId: string;
  kind: BillPaymentsSyncKind;
}

/** The order in which a list is read: by `createdAt` no change moves a row; by `updatedAt` the latest changes come first. */
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

/** What a page came to. Its rows are in the ledger and nowhere else. Times are Unix milliseconds, absent where the rows have none. */
export type BillPaymentsPageResult =
  | {
      kind: "page";
      rows: number;
      added: number;
      changed: number;
      /** How many payments the list has, as the service says; absent where it says that there is no such page any more. */
      total?: number | undefined;
      hasNextPage: boolean;
      /** By the clock of the ledger. */
      askedAtMs: number;
      newestCreatedMs?: number | undefined;
      /** Of those that are not of the future, by `askedAtMs`; where all are, `askedAtMs`. */
      newestUpdatedMs?: number | undefined;
      oldestUpdatedMs?: number | undefined;
      /** Rows that are not of their form and that the ledger does not know; absent where there is none. */
      leftOut?: number;
      /** One of them has no id that can be read: it could be any. */
      unidentified?: true;
    }
  | Refusal;

/** A look at the list of one status, of which nothing is kept. */
export interface BillPaymentsSampleRequest extends AccountingTarget {
  status: BillPaymentStatus;
}

export type BillPaymentsSampleResult =
  | {
      kind: "sample";
      /** Of the oldest payments that the list has; a few. */
      ids: string[];
    }
  | Refusal;

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
export interface SeenBillPayments {
  total: number;
  byStatus: Record<string, number>;
}

/** What two passes over everything say of each other. */
export interface RoundComparison {
  /** Listed with a status, and missed by the list of all. */
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
  round?: { name: string; startedAtMs: number } | undefined;
}

/** What the ledger holds of a connection. */
export interface BillPaymentsHeld {
  total: number;
  /** `none`: in the list of all, and in no list of a status. */
  byStatus: Record<string, number>;
  /** Once listed, and in no list of the latest full synchronisation. Not counted in `total`. */
  missing: number;
}

export interface BillPaymentsProgress {
  kind: BillPaymentsSyncKind;
  /** Of a full one: how often everything is read, the present time included. */
  round: number;
  pages: number;
  rows: number;
  added: number;
  changed: number;
  /** Rows that are not of their form and that the ledger does not have, as often as they were read; absent where there is none. */
  leftOut?: number;
}

/** Result of the `syncBillPayments` workflow. */
export interface SyncBillPaymentsOutcome extends BillPaymentsProgress, BillPaymentsHeld {
  /**
   * Whether what the service counts is what the ledger holds, and, of a full synchronisation, its passes agreed. Where not, rows moved
   * faster than they could be read, or went: a full synchronisation finds it.
   */
  settled: boolean;
}
