import { decimalText, sumOf } from "../contract/decimal.ts";
import { givenText, type Receipt, type SaleDocument, type SaleDocumentLine } from "../contract/documents.ts";
import { plainLine } from "../contract/plain-text.ts";
import { type RefundReason, refundReasonText } from "../contract/codes.ts";

/** The API's documents do not name the seller: what is printed of it is the shop's own word, and marked so. */
export interface Seller {
  name: string;
  pin?: string;
  /** Address, telephone and the like; each line break begins a new line. */
  address?: string;
}

export interface ReceiptOptions {
  seller?: Seller;
  /** The document was given up by an operator, which it does not say itself: nothing will sign it any more. */
  cancelled?: boolean;
  /** Of a credit note: the sale that it reverses, which it names by the API's id alone. */
  reverses?: Pick<SaleDocument, "traderInvoiceNumber" | "saleDate"> | null | undefined;
  /** Of a credit note: why, which it does not say itself. It is printed as the shop's own word, like the seller. */
  reason?: RefundReason | undefined;
}

export type Fact = readonly [label: string, value: string];

export interface PageLine {
  name: string;
  quantity: string;
  unitPrice: string;
  total: string;
  /** The tax letter, or the rate where the line has no letter. */
  tax: string;
}

export interface RateSums {
  /** `B 16%` */
  label: string;
  taxable: string;
  tax: string;
  total: string;
}

/** What every format prints, as texts without control characters, in the order of the page. */
export interface ReceiptPage {
  /** Name, PIN and address, one text a line; empty where no seller is given. */
  seller: string[];
  title: string;
  /** Why this is not a receipt; undefined where the tax authority has signed the document. */
  provisional: string | undefined;
  facts: Fact[];
  lines: PageLine[];
  /** Printed in place of lines that the document was given without. */
  withoutLines: string | undefined;
  rates: RateSums[];
  totals: Fact[];
  signed: Fact[];
  /** What the QR code holds: the address where the tax authority verifies the receipt. */
  verificationUrl: string | undefined;
  /** What of the page is not the API's word; undefined where all of it is. */
  statedByShop: string | undefined;
}

export const PROVISIONAL = "PROVISIONAL";
export const NOT_A_RECEIPT = "NOT A TAX RECEIPT";

const NO_DOCUMENT = "expected the document: outcome.sale or outcome.creditNote; an outcome or null is none";

/**
 * The receipt of a document, out of the document and the options alone: a value that they do not have is left out.
 * Amounts are printed as they are, negative on a credit note.
 */
export function pageOf(document: SaleDocument, options: ReceiptOptions): ReceiptPage {
  const { cancelled = false } = options;
  // JavaScript lets an outcome through, or the null of a sale without a document.
  const given: Partial<SaleDocument> | null | undefined = document;
  if (!given?.totals || !given.lines) throw new TypeError(NO_DOCUMENT);
  const { type, totals, lines, linesLeftOut } = document;
  const receipt = signedReceipt(document);
  const isNote = type === "credit_note";
  const reason = isNote ? options.reason : undefined;
  const seller = options.seller ? sellerLines(options.seller) : [];
  return {
    seller,
    title: isNote ? "Credit note" : receipt ? "Receipt" : "Sale",
    provisional: receipt ? undefined : whyProvisional(document, cancelled),
    facts: [...documentFacts(document), ...(isNote ? reversalFacts(document, receipt, options) : [])],
    lines: lines.map(lineOf),
    withoutLines: linesLeftOut && `${linesLeftOut.count} lines, which are not listed here.`,
    rates: ratesOf(lines),
    totals: [
      ["Taxable", money(totals.taxableAmount)],
      ["Tax", money(totals.taxAmount)],
      ["Total", money(totals.total)],
    ],
    signed: receipt ? signedFacts(receipt) : [],
    verificationUrl: present(receipt?.verificationUrl),
    statedByShop: statedByShop(seller.length > 0, reason !== undefined),
  };
}

/**
 * What was signed, of a document that the tax authority has accepted; `completed` alone means that it has (Fiscal
 * Compliance API, Sale, `status`).
 */
export function signedReceipt({ status, receipt }: SaleDocument): Receipt | undefined {
  return status === "completed" ? (receipt ?? undefined) : undefined;
}

function whyProvisional({ status }: SaleDocument, cancelled: boolean): string {
  if (status === "cancelled" || (cancelled && status !== "completed"))
    return `This document was cancelled, and is not valid (status: ${shown(status)}).`;
  return status === "completed"
    ? "The tax authority has accepted this document. The signed values are not known yet."
    : `The tax authority has not signed this document (status: ${shown(status)}).`;
}

function sellerLines({ name, pin, address }: Seller): string[] {
  const texts = [name, pin && `PIN ${pin}`, ...(address ?? "").split("\n")];
  return texts.flatMap((text) => present(text) ?? []);
}

function statedByShop(seller: boolean, reason: boolean): string | undefined {
  if (!seller && !reason) return undefined;
  const what = seller ? (reason ? "Seller and reason" : "Seller") : "Reason";
  return `${what}: as stated by the shop, not signed.`;
}

function documentFacts({ traderInvoiceNumber, saleDate, customer }: SaleDocument): Fact[] {
  return given([
    ["Number", traderInvoiceNumber],
    ["Date", saleDate],
    ["Buyer", customer?.name],
    ["Buyer's PIN", customer?.pin],
  ]);
}

function reversalFacts(
  { originalSaleId }: SaleDocument,
  receipt: Receipt | undefined,
  { reverses, reason }: ReceiptOptions,
): Fact[] {
  const signed = givenText(receipt?.originalCuInvoiceNo);
  return given([
    ["Reverses receipt", signed],
    // Until it is signed, a credit note itself names the sale by the API's id alone.
    ["Reverses sale", reverses ? dated(reverses) : signed === null ? originalSaleId : null],
    ["Reason", reason && refundReasonText(reason)],
  ]);
}

function dated({ traderInvoiceNumber, saleDate }: NonNullable<ReceiptOptions["reverses"]>): string {
  const date = givenText(saleDate);
  return date === null ? traderInvoiceNumber : `${traderInvoiceNumber} of ${date}`;
}

function signedFacts(receipt: Receipt): Fact[] {
  const { cuInvoiceNo, receiptNumber, receiptLabel, scuId, scuDate, scuTime, totalReceiptCounter } = receipt;
  return given([
    ["CU invoice number", cuInvoiceNo],
    ["Receipt number", receiptNumber?.toString()],
    ["Receipt label", receiptLabel],
    ["Receipt counter", totalReceiptCounter],
    ["SCU ID", scuId],
    ["Signed", [scuDate, scuTime].flatMap((part) => givenText(part) ?? []).join(" ")],
    ["Internal data", receipt.internalData],
    ["Signature", receipt.signature],
  ]);
}

function given(facts: readonly (readonly [string, string | null | undefined])[]): Fact[] {
  return facts.flatMap(([label, value]): Fact[] => {
    const text = present(value);
    return text === undefined ? [] : [[label, text]];
  });
}

function lineOf(line: SaleDocumentLine): PageLine {
  const { name, description, itemId, quantity, unitPrice, total } = line;
  return {
    name: present(name) ?? present(description) ?? shown(itemId),
    quantity: decimalText(quantity),
    unitPrice: money(unitPrice),
    total: money(total),
    tax: present(line.taxTypeCode) ?? percent(line.taxRate),
  };
}

/** The sums of the lines of each tax letter and rate, by letter and then by rate. */
function ratesOf(lines: readonly SaleDocumentLine[]): RateSums[] {
  const byRate = new Map<string, SaleDocumentLine[]>();
  for (const line of lines) {
    const rate = [present(line.taxTypeCode), percent(line.taxRate)].filter(Boolean).join(" ");
    byRate.set(rate, [...(byRate.get(rate) ?? []), line]);
  }
  const sum = (of: readonly SaleDocumentLine[], field: "taxableAmount" | "taxAmount" | "total"): string =>
    money(sumOf(of.map((line) => line[field])));
  return [...byRate]
    .map(([label, of]) => ({
      label,
      taxable: sum(of, "taxableAmount"),
      tax: sum(of, "taxAmount"),
      total: sum(of, "total"),
    }))
    .toSorted((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
}

function percent(rate: number): string {
  return `${decimalText(rate)}%`;
}

const MONEY = new Intl.NumberFormat("en", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 20,
  signDisplay: "negative",
});

/** Thousands apart, two places at least, and more where there are more: `-1,200.50`. */
function money(value: number): string {
  return MONEY.format(value);
}

function present(text: string | null | undefined): string | undefined {
  return shown(givenText(text) ?? "") || undefined;
}

/** On one line, and without what a printer, a terminal or a browser would obey: names come from other people. */
function shown(text: string): string {
  return plainLine(text).replaceAll(/\s+/g, " ").trim();
}
