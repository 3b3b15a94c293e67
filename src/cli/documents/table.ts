import { oddCharacters, refundReasonText } from "../../contract/index.ts";
import type { BusinessDocuments, ListedDocument } from "../../ledger/index.ts";
import type { Table } from "../lists/list.ts";
import { short, sumsTable } from "../lists/render.ts";
import { buyerRows } from "../report/buyers.ts";
import { amountsRow, money, rateText } from "../report/money.ts";
import { headOf, titleOf } from "../report/render-text.ts";
import { codesOf } from "./codes.ts";
import { countedAmounts } from "./counted.ts";

const HEAD = ["DATE", "SIGNED", "NUMBER", "CU NUMBER", "BUYER", "PIN", "TAXABLE", "TAX", "TOTAL", "STATUS"].concat([
  "TAXABLE AND TAX BY RATE",
  "REVERSES",
  "LOOK AT",
]);
/** Columns that are aligned to the right. */
const AMOUNTS = [6, 7, 8];
const SUMS = [1, 2, 3, 4];

export const documentsTable: Table<BusinessDocuments, ListedDocument> = {
  titleOf: (business, { days, sellerOf }) => `${headOf(business, sellerOf)}, ${titleOf(days)}, amounts in KES`,
  head: HEAD,
  right: AMOUNTS,
  cells,
  sums,
  noRows: "No documents.",
  noOwner: "The ledger has no documents of that connection and business.",
};

function cells(document: ListedDocument): string[] {
  const { type, number, signedOn, inFuture } = document;
  const { total, taxableAmount, taxAmount, taxes } = countedAmounts(document);
  const figure = (value: string | null): string => (value === null ? "-" : money(value));
  const { status, paymentTypeCode } = document;
  const look = [
    status === "failed" && "rejected",
    inFuture && "dated in the future",
    document.datedBeforeSale === true && "dated before its sale",
    signedWhen(document),
    document.customerPinMalformed === true && malformedPin(document.customerPin ?? ""),
    codesOf(document).paymentTypeUnknown === true && `unknown payment type ${paymentTypeCode}`,
    document.numberUsedTwice && "number used twice",
  ];
  return [
    document.date,
    signedOn ?? "-",
    type === "sale" ? number : `${number} (credit note)`,
    document.cuInvoiceNo ?? "-",
    short(document.customerName ?? "-"),
    document.customerPin ?? "-",
    figure(taxableAmount),
    figure(taxAmount),
    figure(total),
    statusText(document),
    taxes.map(taxText).join(", ") || "-",
    reversed(document),
    look.filter((word) => word !== false && word !== undefined).join(", "),
  ];
}

/** By its characters where it looks right all the same. */
function malformedPin(pin: string): string {
  const odd = oddCharacters(pin);
  return odd === "" ? "malformed PIN" : `malformed PIN (${odd})`;
}

/** `INV-1001 of 2026-11-20: damaged (03)`. */
function reversed({ reverses, refundReason }: ListedDocument): string {
  if (!reverses) return "-";
  const name = reverses.number ?? reverses.cuInvoiceNo ?? reverses.documentId ?? "not known";
  const sale = reverses.date === null ? name : `${name} of ${reverses.date}`;
  return refundReason === null ? sale : `${sale}: ${refundReasonText(refundReason)}`;
}

function statusText(document: ListedDocument): string {
  const { notSignedTotal, givenUpTotal } = countedAmounts(document);
  const left = notSignedTotal ?? givenUpTotal;
  const words = `${document.status ?? "-"}${document.givenUp ? ", given up" : ""}`;
  return left === null ? words : `${words} (${money(left)} not counted)`;
}

/** Where that is not what the list's days let expect. */
function signedWhen({ signedInAnotherMonth, signedOutsidePeriod, signedOn }: ListedDocument): string | undefined {
  if (signedInAnotherMonth) return `signed in ${signedOn?.slice(0, 7)}`;
  return signedOutsidePeriod ? `signed on ${signedOn}` : undefined;
}

function taxText(tax: ListedDocument["taxes"][number]): string {
  return `${rateText(tax)}: ${money(tax.taxableAmount)} and ${money(tax.taxAmount)}`;
}

function sums({ sales, creditNotes, net, taxes, buyers }: BusinessDocuments): string {
  const rows = [
    amountsRow("sales", String(sales.count), sales),
    amountsRow("credit notes", String(creditNotes.count), creditNotes),
    amountsRow("net", String(net.count), net),
    ...taxes.map((rate) => amountsRow(`net at ${rateText(rate)}`, "", rate.net)),
    ...buyerRows({ buyers }),
  ];
  return sumsTable(["SIGNED", "COUNT", "TAXABLE", "TAX", "TOTAL"], rows, SUMS);
}
