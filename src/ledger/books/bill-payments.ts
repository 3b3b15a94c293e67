import { sql } from "kysely";

import type { BillPayment, BillPaymentsHeld, BillPaymentStatus } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { accountingChain, type Chain, connectionOfChain } from "../events/chain.ts";
import { countBy, createMirror, type Mirror, WHOLE_WITHIN_MS } from "./mirror.ts";
import { type ListedEntry, listPeriod, type PeriodOfOwner } from "./mirror-list.ts";
import type { PeriodRequest } from "./report-types.ts";

export const BILL_PAYMENTS: Mirror = {
  table: "bill_payments",
  noun: "bill payment",
  chainOf: ({ connection }) => accountingChain(connection),
  date: "payment_date",
  status: "sync_status",
};

export type BillPayments = ReturnType<typeof createBillPayments>;

/** The bill payments of each accounting connection, as the service last showed them. */
export function createBillPayments(database: Database) {
  return {
    ...createMirror<BillPayment>(database, BILL_PAYMENTS),
    /** Gives `read` those of a period, in pages and from one state; `read` runs once. @throws what `read` throws */
    list: <Result>(
      request: Omit<PeriodRequest, "businessId">,
      read: (connections: BillPaymentsOfPeriod[]) => Promise<Result>,
    ) => listPeriod<ListedBillPayment, Figures, Result>(database, LIST, request, read),
    summary: (connection: string): Promise<BillPaymentsHeld> =>
      database.transact(async (db) => {
        const there = await countBy(db, BILL_PAYMENTS, { connection }, sql`missing_since is null`);
        const gone = await countBy(db, BILL_PAYMENTS, { connection }, sql`missing_since is not null`);
        return { ...there, missing: gone.total };
      }, WHOLE_WITHIN_MS),
  };
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

interface Figures {
  sums: BillPaymentSums[];
}

export type BillPaymentsOfPeriod = PeriodOfOwner<ListedBillPayment> & Figures;

const LIST = {
  mirror: BILL_PAYMENTS,
  connectionOf: (chain: Chain) => connectionOfChain(chain) ?? chain.connection,
  order: sql`bill_payment_code, id`,
  columns: () => sql`
    id as "billPaymentId", payment_date as date, bill_payment_code as "billPaymentCode", supplier_id as "supplierId",
    supplier_name as "supplierName", bill_id as "billId", bill_code as "billCode", account_id as "accountId",
    account_name as "accountName", payment_method_id as "paymentMethodId", payment_method_name as "paymentMethodName",
    total_amount as "totalAmount", currency, currency_rate as "currencyRate", note, sync_status as "syncStatus"`,
  figures: async (db: Queries, rows: ReturnType<typeof sql>): Promise<Figures> => {
    const { rows: sums } = await sql<BillPaymentSums>`
      select currency, sync_status as "syncStatus", missing_since is not null as missing, count(*)::int as count,
        (count(*) filter (where total_amount is null))::int as "withoutAmount",
        coalesce(sum(total_amount), 0) as "totalAmount"
      from ${rows} group by 1, 2, 3 order by 3, 1, 2`.execute(db);
    return { sums };
  },
};
