import type { BillPayment, BillPaymentStatus } from "../../contract/index.ts";
import type { Writer } from "../events/chain.ts";
import type { BillPaymentsReport } from "./verify.ts";

/** What the room says about bill payments: types alone. */

/**
 * - `recent`: by `updatedAt`, newest first, until known ground
 * - `full`: every payment, in rounds
 */
export type BillPaymentSyncKind = "recent" | "full";

/** A synchronisation, from its first page to its last, over however many runs of its workflow. */
export interface BillPaymentSync {
  connection: string;
  syncId: string;
  kind: BillPaymentSyncKind;
}

/** A page of the list of all payments, or of those of one status. */
export interface KeepBillPaymentsRequest {
  connection: string;
  /** The status that was asked for; absent: of the list of all. */
  status?: BillPaymentStatus | undefined;
  /** Names the round of a full synchronisation that reads the page; absent where the page is not part of one. */
  round?: string | undefined;
  billPayments: readonly BillPayment[];
  /** The ids of rows of the page that are not of their form: what is kept of them stands, and they have not vanished. */
  leftOut?: readonly string[] | undefined;
  /** When the page was asked for, by {@link BillPayments.now}: what was asked for earlier never replaces what was asked for later. */
  askedAtMs: number;
  writer: Writer;
}

export interface KeptBillPayments {
  rows: number;
  added: number;
  changed: number;
  /** How many of those that were left out are in the ledger, from a time when they were of their form; absent for none. */
  leftOutKnown?: number;
}

/** One reading of everything: the list of all, then that of each status. */
export interface FullRound {
  name: string;
  /** When its first page was asked for, by {@link BillPayments.now}; at the end, since when all has been seen. */
  startedAtMs: number;
}

/** How many payments were seen since an instant, whichever page showed them. */
export interface SeenCounts {
  total: number;
  /** By the status that was seen since then; `none` for none. */
  byStatus: Record<string, number>;
}

/** What a round's two passes say of each other. */
export interface RoundFindings {
  /** Listed with a status, and not in the list of all although they were there when it was read: it may have missed more. */
  missedByList: number;
  /** In the list of all, and for the first time in no list of a status. */
  missedByStatuses: number;
  sinceRound: SeenCounts;
  /** Since the synchronisation began: in any of its rounds. */
  sinceStart: SeenCounts;
}

/** What the ledger holds of a connection. */
export interface BillPaymentSummary {
  total: number;
  /** `none`: in the list of all, and in no list of a status. */
  byStatus: Record<string, number>;
  /** Once listed, and in no list of the latest full synchronisation. Not counted in `total`. */
  missing: number;
}

export interface KeptBillPayment {
  billPayment: BillPayment;
  /** As learned by asking for the payments of each status; null: in no such list. */
  syncStatus: BillPaymentStatus | null;
  firstSeenAtMs: number;
  changedAtMs: number;
  missingSinceMs: number | null;
  writer: Writer;
}

export interface BillPaymentChange {
  atMs: number;
  what: "first-seen" | "status" | "content" | "missing" | "returned";
  before: unknown;
  after: unknown;
  writer: Writer;
}

/**
 * The bill payments of each accounting connection, as the service last showed them, with the history of what changed. Every write may be
 * repeated. Every function throws LedgerUnavailableError when nothing can be said, and may then be called again as it was.
 */
export interface BillPayments {
  /** The database's clock (Unix milliseconds): the workers of a fleet have clocks of their own. */
  now(): Promise<number>;
  begin(sync: BillPaymentSync): Promise<void>;
  /** Up to which `updatedAt` (Unix milliseconds) everything has been read; undefined before the first full synchronisation. */
  knownUntil(connection: string): Promise<number | undefined>;
  keepPage(request: KeepBillPaymentsRequest): Promise<KeptBillPayments>;
  /**
   * @param how.reachMs the newest `createdAt` that the list of all had when its end was read
   * @param how.withStatuses whether lists of single statuses were read
   */
  compareRound(
    connection: string,
    round: FullRound,
    how: { reachMs: number | undefined; syncStartedAtMs: number; withStatuses: boolean },
  ): Promise<RoundFindings>;
  /**
   * Ends it. Everything up to `knownUntilMs` is known from now on, unless it is a recent one that has not settled. Of a full one that has settled, what the round did not list is missing from now on, and what no list of a status had has none.
   */
  complete(
    sync: BillPaymentSync,
    end: { settled: boolean; knownUntilMs: number | undefined; round: FullRound | undefined },
    writer: Writer,
  ): Promise<void>;
  summary(connection: string): Promise<BillPaymentSummary>;
  /** By id, `most` at a time, those that are missing among them. */
  page(connection: string, request: { afterId?: string | undefined; most: number }): Promise<KeptBillPayment[]>;
  /** Holds each row against the events of its connection's chain, which is named as the chain is; of another chain there are none. */
  verify(chain: { connection: string; businessId: string }): Promise<BillPaymentsReport>;
  /** Oldest first. */
  history(connection: string, billPaymentId: string): Promise<BillPaymentChange[]>;
}
