import { createHash } from "node:crypto";
import type { Insertable } from "kysely";

import { type BillPayment, decimalText } from "../../contract/index.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import { storableText } from "../storable-text.ts";
import type { BillPaymentLinesTable, BillPaymentsTable } from "../tables/accounting.ts";

/** What a payment says, as columns. Amounts are kept as decimals, as the service wrote them. */
export function contentColumns(payment: BillPayment) {
  const { supplierRef, accountRef, paymentMethodRef, billRef } = payment;
  const body = storableText(canonicalJson(payment));
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
    content_hash: createHash("sha256").update(body).digest("hex"),
    body,
  } satisfies Partial<Insertable<BillPaymentsTable>>;
}

export function lineColumns(payment: BillPayment) {
  return (payment.lines ?? []).map((line, index) => ({
    line_number: index + 1,
    amount: amount(line.amount),
    allocated_on: text(line.allocatedOnDate),
    reference: text(line.reference),
    links: canonicalJson(
      (line.links ?? []).map((link) => ({ billId: text(link.billId), amount: amount(link.amount) })),
    ),
  })) satisfies Partial<Insertable<BillPaymentLinesTable>>[];
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
