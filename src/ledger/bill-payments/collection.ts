import { sql } from "kysely";

import { type BillPayment, decimalText } from "../../contract/index.ts";
import { accountingChain, connectionOfChain } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import type { Collection } from "../synced/collection.ts";
import type { NewRowOf } from "../tables.ts";

/**
 * The status is no field of a payment: the page's is, that of the list which was asked for, and it is seen at times of
 * its own.
 */
export const BILL_PAYMENTS: Collection<BillPayment> = {
  table: "bill_payments",
  idColumn: "bill_payment_id",
  ownerOf: ({ connection }) => ({ connection }),
  chainOf: ({ connection }) => accountingChain(connection),
  ownerOfChain(chain) {
    const connection = connectionOfChain(chain);
    return connection === undefined ? undefined : { connection };
  },
  events: { seen: "bill-payment-seen", missing: "bill-payment-missing", noun: "bill payment", entry: "billPayment" },
  columnsOf,
  fieldsApart: [],
  firstSeen: (_columns, { status = null }) => ({ status }),
  changesOf({ sync_status: before, status_observed_at: seenAt }, _columns, { status, askedAtMs }) {
    const isLate = seenAt instanceof Date && seenAt.getTime() > askedAtMs;
    return status === undefined || isLate || before === status ? [] : [{ what: "status", before, after: status }];
  },
  marksOf({ status, askedAtMs }) {
    if (status === undefined) return [];
    const at = new Date(askedAtMs);
    return [
      sql`sync_status = case when status_observed_at > ${at} then sync_status else ${status}::text end`,
      sql`status_observed_at = greatest(status_observed_at, ${at})`,
    ];
  },
  statusSince: (since) => sql`case when status_observed_at >= ${since} then sync_status end`,
  columnsOfStatus: (status) => ({ sync_status: status }),
  withoutStatus: (since) => ({
    which: sql`missing_since is null and sync_status is not null and status_observed_at < ${since}`,
    set: sql`sync_status = null`,
  }),
  date: "payment_date",
};

/** Amounts are kept as decimals, as the service wrote them. */
function columnsOf(payment: BillPayment) {
  const { supplierRef, accountRef, paymentMethodRef, billRef } = payment;
  return {
    supplier_id: text(supplierRef?.id),
    supplier_name: text(supplierRef?.name),
    account_id: text(accountRef?.id),
    account_name: text(accountRef?.name),
    payment_method_id: text(paymentMethodRef?.id),
    payment_method_name: text(paymentMethodRef?.name),
    bill_id: text(billRef?.id),
    bill_code: text(billRef?.billCode),
    total_amount: amount(payment.totalAmount),
    currency: text(payment.currency),
    currency_rate: amount(payment.currencyRate),
    payment_date: text(payment.date),
    bill_payment_code: text(payment.billPaymentCode),
    note: text(payment.note),
    service_created_at: moment(payment.createdAt),
    service_updated_at: moment(payment.updatedAt),
  } satisfies Partial<NewRowOf<"bill_payments">>;
}

function text(value: string | null | undefined): string | null {
  return value === null || value === undefined ? null : storableText(value);
}

function amount(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : decimalText(value);
}

/** PostgreSQL has room for more than JavaScript's dates, and none for what is no date: then only the body has it. */
function moment(value: string | null | undefined): Date | null {
  const atMs = Date.parse(value ?? "");
  return Number.isNaN(atMs) ? null : new Date(atMs);
}
