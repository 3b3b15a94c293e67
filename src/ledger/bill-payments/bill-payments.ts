import type {
  BillPayment,
  BillPaymentsGround,
  BillPaymentsHeld,
  BillPaymentsSync,
  BillPaymentStatus,
  RoundComparison,
} from "../../contract/index.ts";
import type { Writer } from "../events/chain.ts";
import type { RowFindings } from "../rows/row-findings.ts";
import type { KeptEntry, ListedEntry, PeriodOfOwner, PeriodRequest, Synced } from "../synced/collection.ts";

/** The interface of the ledger for bill payments: types alone. */

/** A page of the list of all payments, or of those of one status. */
export interface BillPaymentsAsked {
  connection: string;
  /** Absent: of the list of all. */
  status?: BillPaymentStatus | undefined;
  /** Names the round of a full synchronisation that reads the page; absent where the page is not part of one. */
  round?: string | undefined;
}

/** One reading of everything: the list of all, then that of each status. */
export interface FullRound {
  name: string;
  /** When its first page was asked for, by the database's clock; at the end, since when all has been seen. */
  startedAtMs: number;
}

export interface KeptBillPayment extends KeptEntry<BillPayment> {
  /** As learned by asking for the payments of each status; null: in no such list. */
  syncStatus: BillPaymentStatus | null;
}

/** A bill payment as the service showed it last. Amounts are exact decimal texts; null is what it does not state. */
export interface ListedBillPayment extends ListedEntry {
  billPaymentId: string;
  /** `YYYY-MM-DD`. */
  date: string;
  billPaymentCode: string | null;
  supplierId: string | null;
  supplierName: string | null;
  billId: string | null;
  billCode: string | null;
  accountId: string | null;
  accountName: string | null;
  paymentMethodId: string | null;
  paymentMethodName: string | null;
  totalAmount: string | null;
  currency: string | null;
  currencyRate: string | null;
  note: string | null;
  syncStatus: BillPaymentStatus | null;
}

/** Of one currency and one status, apart those that are missing. */
export interface BillPaymentSums {
  currency: string | null;
  syncStatus: BillPaymentStatus | null;
  missing: boolean;
  count: number;
  /** Of those, how many state no amount: the sum is without them. */
  withoutAmount: number;
  totalAmount: string;
}

export interface BillPaymentsOfPeriod extends PeriodOfOwner<ListedBillPayment> {
  sums: BillPaymentSums[];
}

/** The bill payments of each accounting connection, as the service last showed them. */
export interface BillPayments extends Synced<BillPayment, BillPaymentsAsked, string, BillPaymentsSync> {
  page(connection: string, request: { afterId?: string | undefined; most: number }): Promise<KeptBillPayment[]>;
  /** The chain is named as it is: not as the connection. */
  verify(chain: { connection: string; businessId: string }): Promise<RowFindings & { billPayments: number }>;
  ground(connection: string): Promise<BillPaymentsGround>;
  /**
   * @param how.reachMs the newest `createdAt` that the list of all had when its end was read
   * @param how.withStatuses whether lists of single statuses were read
   */
  compareRound(
    connection: string,
    round: FullRound,
    how: { reachMs: number | undefined; syncStartedAtMs: number; withStatuses: boolean },
  ): Promise<RoundComparison>;
  /**
   * Ends it. Everything up to `knownUntilMs` is known from now on, unless it is a recent one that has not settled. Of a
   * full one that has settled, what the round did not list is missing from now on, and what no list of a status had has
   * none.
   */
  complete(
    sync: BillPaymentsSync,
    end: {
      settled: boolean;
      knownUntilMs: number | undefined;
      leftOut?: number[] | undefined;
      round: FullRound | undefined;
    },
    writer: Writer,
  ): Promise<void>;
  /** Gives `read` those of a period, in pages and from one state; `read` runs once. @throws what `read` throws */
  list<Result>(
    request: Omit<PeriodRequest, "businessId">,
    read: (connections: BillPaymentsOfPeriod[]) => Promise<Result>,
  ): Promise<Result>;
  summary(connection: string): Promise<BillPaymentsHeld>;
}
