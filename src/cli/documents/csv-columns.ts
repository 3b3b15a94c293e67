import type { BusinessDocuments, ListedDocument } from "../../ledger/index.ts";
import type { CsvColumns } from "../lists/list.ts";
import { amount } from "../report/money.ts";
import { codesOf } from "./codes.ts";
import { countedAmounts } from "./counted.ts";
import { rateName, ratesOf } from "./rates.ts";

const HEAD = [
  "connection",
  "business",
  "type",
  "number",
  "date",
  "signed_on",
  "signed_time",
  "cu_invoice_number",
  "receipt_number",
  "receipt_label",
  "buyer_name",
  "buyer_pin",
  "payment_type",
  "status",
  "taxable",
  "tax",
  "total",
  "not_signed_total",
  "given_up_total",
  "reversed_number",
  "reversed_date",
  "reversed_cu_invoice_number",
  "reversed_document_id",
  "refund_reason",
  "refund_reason_in_words",
  "document_id",
  "dated_in_future",
  "signed_in_another_month",
  "signed_outside_period",
  "buyer_pin_malformed",
  "dated_before_sale",
  "payment_type_unknown",
  "number_used_twice",
];

/** The columns of amounts can be added up: each holds signed documents alone, or none. */
export function csvColumns(businesses: readonly BusinessDocuments[]): CsvColumns<ListedDocument> {
  const rates = ratesOf(businesses);
  return {
    head: [...HEAD, ...rates.flatMap((rate) => [`taxable_${rate}`, `tax_${rate}`])],
    cells: (document) => cells(document, rates),
  };
}

function cells(document: ListedDocument, rates: readonly string[]): string[] {
  const { reverses, inFuture, signedInAnotherMonth, signedOutsidePeriod, signedOn } = document;
  const { total, taxableAmount, taxAmount, taxes, notSignedTotal, givenUpTotal } = countedAmounts(document);
  const { paymentTypeUnknown, refundReasonInWords } = codesOf(document);
  const figure = (value: string | null): string => (value === null ? "" : amount(value));
  const words = (value: string | null | undefined): string => value ?? "";
  return [
    words(document.connection),
    words(document.businessId),
    document.type,
    words(document.number),
    document.date,
    document.signedOn ?? "",
    words(document.signedTime),
    words(document.cuInvoiceNo),
    document.receiptNumber === null ? "" : String(document.receiptNumber),
    words(document.receiptLabel),
    words(document.customerName),
    words(document.customerPin),
    words(document.paymentTypeCode),
    words(document.status),
    figure(taxableAmount),
    figure(taxAmount),
    figure(total),
    figure(notSignedTotal),
    figure(givenUpTotal),
    words(reverses?.number),
    reverses?.date ?? "",
    words(reverses?.cuInvoiceNo),
    words(reverses?.documentId),
    words(document.refundReason),
    words(refundReasonInWords),
    words(document.documentId),
    inFuture ? "yes" : "no",
    ...[signedInAnotherMonth, signedOutsidePeriod].map((is) => (is ? "yes" : signedOn === null ? "" : "no")),
    ...[document.customerPinMalformed, document.datedBeforeSale, paymentTypeUnknown].map((is) =>
      is === null ? "" : is ? "yes" : "no",
    ),
    document.numberUsedTwice ? "yes" : "no",
    ...byRate(taxes, rates).map(figure),
  ];
}

/** Taxable amount and tax of each rate, in this order; null where the document has none that count. */
function byRate(taxes: ListedDocument["taxes"], rates: readonly string[]): (string | null)[] {
  const known = new Map(taxes.map((tax) => [rateName(tax), tax]));
  return rates.flatMap((rate) => {
    const tax = known.get(rate);
    if (tax) return [tax.taxableAmount, tax.taxAmount];
    return taxes.length > 0 ? ["0", "0"] : [null, null];
  });
}
