import { sql } from "kysely";

import type { BillPayment, BillPaymentStatus } from "../../contract/index.ts";
import type { KeptColumns, ListedEntry, PeriodOfOwner } from "../synced/collection.ts";
import type { PeriodList } from "../synced/list-period.ts";
import type { RowOf } from "../tables.ts";
import { BILL_PAYMENTS } from "./collection.ts";

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

export const BILL_PAYMENT_LIST: PeriodList<BillPayment, ListedBillPayment, Pick<BillPaymentsOfPeriod, "sums">> = {
  collection: BILL_PAYMENTS,
  order: sql`bill_payment_code, bill_payment_id`,
  listed(row, { connection }, altered) {
    const kept = row as KeptColumns & RowOf<"bill_payments">;
    return {
      connection,
      billPaymentId: kept.bill_payment_id,
      date: kept.payment_date ?? "",
      billPaymentCode: kept.bill_payment_code,
      supplierId: kept.supplier_id,
      supplierName: kept.supplier_name,
      billId: kept.bill_id,
      billCode: kept.bill_code,
      accountId: kept.account_id,
      accountName: kept.account_name,
      paymentMethodId: kept.payment_method_id,
      paymentMethodName: kept.payment_method_name,
      totalAmount: kept.total_amount,
      currency: kept.currency,
      currencyRate: kept.currency_rate,
      note: kept.note,
      syncStatus: row["sync_status"] as ListedBillPayment["syncStatus"],
      missingSinceMs: row.missing_since?.getTime() ?? null,
      altered,
    };
  },
  figures: async (db, rows) => {
    const { rows: sums } = await sql<
      Omit<BillPaymentSums, "count" | "withoutAmount"> & { count: string; withoutAmount: string }
    >`
      select currency, sync_status as "syncStatus", missing_since is not null as missing, count(*),
        count(*) filter (where total_amount is null) as "withoutAmount", coalesce(sum(total_amount), 0) as "totalAmount"
      from ${rows} group by 1, 2, 3 order by 3, 1, 2`.execute(db);
    return {
      sums: sums.map((row) => ({ ...row, count: Number(row.count), withoutAmount: Number(row.withoutAmount) })),
    };
  },
};
