import { money } from "../../contract/decimal.ts";
import {
  EXPECTED_PIN,
  isUnknownPaymentType,
  oddCharacters,
  paymentTypeWords,
  refundReasonText,
  refundReasonWords,
} from "../../contract/index.ts";
import type { BusinessDocuments, ListedDocument } from "../../ledger/index.ts";
import { plain } from "../output.ts";
import { headOf, refuseUnknown, titleOf, withSeller } from "../report/asked.ts";
import { rateText, signedTable } from "../report/tables.ts";
import { type Column, countNote, plainTable, rateColumns } from "../tables.ts";
import { type PeriodList, runList } from "./period-list.ts";
import type { RunList } from "../register-outputs.ts";

export const listDocuments: RunList = (context, asked) => runList(context, LIST_OF_DOCUMENTS, asked);

export const LIST_OF_DOCUMENTS: PeriodList<BusinessDocuments, ListedDocument, ToldDocument> = {
  read: (ledger, request, write) => ledger.reports.documents(request, write),
  refuseUnknown,
  titleOf: (business, { days, sellerOf }) => `${headOf(business, sellerOf)}, ${titleOf(days)}, amounts in KES`,
  below,
  fields: ["businesses", "documents"],
  // As `fiscalflow report --json`.
  figuresOf: ({ pages: _pages, ...figures }, { sellerOf }) => withSeller(figures, sellerOf),
  told,
  columns: (businesses) => [...COLUMNS, ...taxColumns(businesses)],
  noOwner: "The ledger has no documents of that connection and business.",
};

/** With what the codes say, as far as that is known; amounts that a list may add up stand apart from all others. */
type ToldDocument = ListedDocument & {
  /** Null where there is none. */
  paymentTypeUnknown: boolean | null;
  paymentTypeInWords: string | null;
  refundReasonInWords: string | null;
  /** Of a document that may be signed yet. */
  notSignedTotal: string | null;
  givenUpTotal: string | null;
};

function told(document: ListedDocument): ToldDocument {
  const { status, givenUp, total, paymentTypeCode, refundReason } = document;
  const isSigned = status === "completed";
  return {
    ...document,
    paymentTypeUnknown: isUnknownPaymentType(paymentTypeCode),
    paymentTypeInWords: paymentTypeCode === null ? null : (paymentTypeWords(paymentTypeCode) ?? null),
    refundReasonInWords: refundReason === null ? null : (refundReasonWords(refundReason) ?? null),
    ...(!isSigned && { total: null, taxableAmount: null, taxAmount: null, taxes: [] }),
    notSignedTotal: isSigned || givenUp ? null : total,
    givenUpTotal: isSigned || !givenUp ? null : total,
  };
}

/** The columns of amounts can be added up: each holds signed documents alone, or none. */
const COLUMNS: readonly Column<ToldDocument>[] = [
  { csv: "connection", of: "connection" },
  { csv: "business", of: "businessId" },
  { csv: "type", of: "type" },
  { csv: "date", head: "DATE", of: "date" },
  { csv: "signed_on", head: "SIGNED", of: "signedOn" },
  { csv: "signed_time", of: "signedTime" },
  {
    csv: "number",
    head: "NUMBER",
    of: "number",
    shown: ({ type, number }) => (type === "sale" ? number : `${number} (credit note)`),
  },
  { csv: "cu_invoice_number", head: "CU NUMBER", of: "cuInvoiceNo" },
  { csv: "receipt_number", of: "receiptNumber" },
  { csv: "receipt_label", of: "receiptLabel" },
  { csv: "buyer_name", head: "BUYER", of: "customerName" },
  { csv: "buyer_pin", head: "PIN", of: "customerPin" },
  { csv: "payment_type", of: "paymentTypeCode" },
  { csv: "payment_type_in_words", of: "paymentTypeInWords" },
  { csv: "taxable", head: "TAXABLE", of: "taxableAmount", isAmount: true },
  { csv: "tax", head: "TAX", of: "taxAmount", isAmount: true },
  { csv: "total", head: "TOTAL", of: "total", isAmount: true },
  { csv: "status", head: "STATUS", of: "status", shown: statusText },
  { csv: "not_signed_total", of: "notSignedTotal", isAmount: true },
  { csv: "given_up_total", of: "givenUpTotal", isAmount: true },
  { head: "TAXABLE AND TAX BY RATE", of: ({ taxes }) => taxes.map(taxText).join(", ") || null },
  { head: "REVERSES", of: reversed },
  { csv: "reversed_number", of: ({ reverses }) => reverses?.number },
  { csv: "reversed_date", of: ({ reverses }) => reverses?.date },
  { csv: "reversed_cu_invoice_number", of: ({ reverses }) => reverses?.cuInvoiceNo },
  { csv: "reversed_document_id", of: ({ reverses }) => reverses?.documentId },
  { csv: "refund_reason", of: "refundReason" },
  { csv: "refund_reason_in_words", of: "refundReasonInWords" },
  { csv: "document_id", of: "documentId" },
  { csv: "dated_in_future", of: "inFuture" },
  { csv: "signed_in_another_month", of: "signedInAnotherMonth" },
  { csv: "signed_outside_period", of: "signedOutsidePeriod" },
  { csv: "buyer_pin_malformed", of: "customerPinMalformed" },
  { csv: "dated_before_sale", of: "datedBeforeSale" },
  { csv: "payment_type_unknown", of: "paymentTypeUnknown" },
  { csv: "number_used_twice", of: "numberUsedTwice" },
  { head: "LOOK AT", of: looksText },
];

type TaxOfRate = ListedDocument["taxes"][number];

/** Two for each rate of all signed documents, the highest first; empty where a document has no lines that count. */
function taxColumns(businesses: readonly BusinessDocuments[]): Column<ToldDocument>[] {
  const rates = businesses.flatMap(({ taxes }) => taxes).toSorted((a, b) => Number(b.taxRate) - Number(a.taxRate));
  return rateColumns(rates.map(rateName), ({ taxes }: ToldDocument) => taxes, rateName, {
    taxable: ({ taxableAmount }) => taxableAmount,
    tax: ({ taxAmount }) => taxAmount,
  });
}

/** `B_16`, however many zeros the rate was written with. */
function rateName({ taxRate, taxTypeCode }: Pick<TaxOfRate, "taxRate" | "taxTypeCode">): string {
  return `${taxTypeCode ?? "none"}_${plain(taxRate)}`;
}

function taxText(tax: TaxOfRate): string {
  return `${rateText(tax)}: ${money(tax.taxableAmount)} and ${money(tax.taxAmount)}`;
}

function reversed({ reverses, refundReason }: ListedDocument): string | null {
  if (!reverses) return null;
  const name = reverses.number ?? reverses.cuInvoiceNo ?? reverses.documentId ?? "not known";
  const sale = reverses.date === null ? name : `${name} of ${reverses.date}`;
  return refundReason === null ? sale : `${sale}: ${refundReasonText(refundReason)}`;
}

function statusText({ status, givenUp, notSignedTotal, givenUpTotal }: ToldDocument): string {
  const left = notSignedTotal ?? givenUpTotal;
  const words = `${status ?? "-"}${givenUp ? ", given up" : ""}`;
  return left === null ? words : `${words} (${money(left)} not counted)`;
}

function looksText(document: ToldDocument): string {
  const { status, signedOn, signedInAnotherMonth, signedOutsidePeriod, customerPin, paymentTypeCode } = document;
  const odd = oddCharacters(customerPin ?? "");
  const looks = [
    status === "failed" && "rejected",
    document.inFuture && "dated in the future",
    document.datedBeforeSale && "dated before its sale",
    signedInAnotherMonth ? `signed in ${signedOn?.slice(0, 7)}` : signedOutsidePeriod && `signed on ${signedOn}`,
    document.customerPinMalformed && `malformed PIN${odd === "" ? "" : ` (${odd})`}`,
    document.paymentTypeUnknown && `unknown payment type ${paymentTypeCode}`,
    document.numberUsedTwice && "number used twice",
  ];
  return looks.filter(Boolean).join(", ");
}

function below(of: BusinessDocuments): string[] {
  const { head, rows, right } = signedTable(of);
  const [, ...names] = head.map((name) => name.toUpperCase());
  return [
    plainTable(["SIGNED", ...names], rows, right),
    ...countNote("Listed and not signed, so in no sum", of.notSigned),
    ...countNote("Listed and given up, so never signed and in no sum", of.givenUp),
    ...countNote(`Listed with a malformed buyer's PIN (expected ${EXPECTED_PIN})`, of.malformedPins),
    ...countNote("Listed with a payment type that is not in the authority's list", of.unknownPaymentTypes),
    ...countNote("Numbers that two or more listed documents have", of.numbersUsedTwice),
    ...countNote(
      "Sales and credit notes of this period under way, not known to have a document, so not listed",
      of.notIssued,
      'See "Open now": fiscalflow report day',
    ),
    ...countNote(
      "Sales and credit notes of this period that ended before they were known to have a document, so not listed; nothing carries them on",
      of.endedNotIssued,
      'See "Ended without an outcome": fiscalflow report day',
    ),
  ];
}
