import {
  decimalText,
  differsByMoreThan,
  ERASED,
  givenText,
  IN_FLIGHT_STATUSES,
  money,
  type Receipt,
  type SaleDocument,
} from "../../contract/index.ts";

/** Amounts that differ by no more are the same (docs/failure-model.md, "The promises"). */
const TOLERANCE = 0.01;

/**
 * For so long somebody may still have a failed document sent to the tax authority again (Fiscal Compliance API, "Sale
 * and credit note status": a retry moves it to `completed`, and names no end). After that it is asked for again only
 * where the ledger learns of it.
 */
const FAILED_IS_FINAL_AFTER_MS = 35 * 24 * 60 * 60_000;

/**
 * Whether the service will not change the document any more.
 * @param unchangedForMs how old the ledger's state of it is
 */
export function isFinal({ status, receipt }: SaleDocument, unchangedForMs: number): boolean {
  if (status === "failed") return unchangedForMs >= FAILED_IS_FINAL_AFTER_MS;
  return status === "cancelled" || (status === "completed" && isPresent(receipt?.cuInvoiceNo));
}

/** Whether the ledger just does not know yet what became of a document in flight. */
export function isBehind(kept: SaleDocument, answered: SaleDocument): boolean {
  return IN_FLIGHT_STATUSES.includes(kept.status) && kept.status !== answered.status;
}

/** What the service tells otherwise than the ledger, a sentence each. */
export function differences(kept: SaleDocument, answered: SaleDocument): string[] {
  const found: string[] = [];
  const same = (name: string, ours: FieldValue, theirs: FieldValue): void => {
    if (presentValue(ours) !== presentValue(theirs))
      found.push(`${name} is ${shown(theirs)}, in the ledger ${shown(ours)}`);
  };
  const near = (name: string, ours: number, theirs: number): void => {
    if (differsByMoreThan(TOLERANCE, ours, theirs))
      found.push(`${name} is ${money(decimalText(theirs))}, in the ledger ${money(decimalText(ours))}`);
  };
  /** What only one side tells is not held against the other. */
  const known = (name: string, ours: FieldValue, theirs: FieldValue): void => {
    if (isPresent(ours) && isPresent(theirs)) same(name, ours, theirs);
  };
  same("the status", kept.status, answered.status);
  same("the type", kept.type, answered.type);
  same("the number", kept.traderInvoiceNumber, answered.traderInvoiceNumber);
  same("the date", kept.saleDate, answered.saleDate);
  same("the reversed sale", kept.originalSaleId, answered.originalSaleId);
  known("the payment type", kept.paymentTypeCode, answered.paymentTypeCode);
  const [ourPin, theirPin] = [kept.customer?.pin, answered.customer?.pin];
  // Without the two: a finding is kept for years, and a customer may be erased.
  if (ourPin !== ERASED && isPresent(ourPin) && isPresent(theirPin) && ourPin !== theirPin)
    found.push("the customer's PIN is another one than in the ledger");
  same("the receipt's CU number", kept.receipt?.cuInvoiceNo, answered.receipt?.cuInvoiceNo);
  for (const [field, name] of RECEIPT) known(`the receipt's ${name}`, kept.receipt?.[field], answered.receipt?.[field]);
  near("the total", kept.totals.total, answered.totals.total);
  near("the taxable amount", kept.totals.taxableAmount, answered.totals.taxableAmount);
  near("the tax", kept.totals.taxAmount, answered.totals.taxAmount);
  same("the number of lines", kept.lines.length, answered.lines.length);
  for (const [index, ours] of kept.lines.entries()) {
    const theirs = answered.lines[index];
    if (!theirs || kept.lines.length !== answered.lines.length) break;
    const line = `line ${index + 1}`;
    same(`the item of ${line}`, ours.itemId, theirs.itemId);
    same(`the tax rate of ${line}`, ours.taxRate, theirs.taxRate);
    known(`the tax letter of ${line}`, ours.taxTypeCode, theirs.taxTypeCode);
    same(`the quantity of ${line}`, ours.quantity, theirs.quantity);
    near(`the unit price of ${line}`, ours.unitPrice, theirs.unitPrice);
    near(`the total of ${line}`, ours.total, theirs.total);
    near(`the taxable amount of ${line}`, ours.taxableAmount, theirs.taxableAmount);
    near(`the tax of ${line}`, ours.taxAmount, theirs.taxAmount);
  }
  return found;
}

/** What was signed beside the CU number, and what it is called in a sentence. */
const RECEIPT = [
  ["receiptNumber", "number"],
  ["receiptLabel", "label"],
  ["scuId", "SCU"],
  ["scuDate", "date"],
  ["scuTime", "time"],
  ["totalReceiptCounter", "counter"],
  ["signature", "signature"],
  ["internalData", "internal data"],
  ["verificationUrl", "verification URL"],
  ["originalCuInvoiceNo", "CU number of the reversed sale"],
] as const satisfies readonly (readonly [keyof Receipt, string])[];

type FieldValue = string | number | null | undefined;

function presentValue(value: FieldValue): string | number | null {
  return typeof value === "number" ? value : givenText(value);
}

function isPresent(value: FieldValue): boolean {
  return presentValue(value) !== null;
}

function shown(value: FieldValue): string {
  return isPresent(value) ? String(value) : "not there";
}
