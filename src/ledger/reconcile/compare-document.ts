import { differsByMoreThan, IN_FLIGHT_STATUSES, type SaleDocument } from "../../contract/index.ts";

/** Amounts that differ by no more are the same (failure model, invariant 7). */
const TOLERANCE = 0.01;

/** Whether the service will not change the document any more by itself. */
export function isFinal({ status, receipt }: SaleDocument): boolean {
  return status === "cancelled" || (status === "completed" && typeof receipt?.cuInvoiceNo === "string");
}

/** Whether the ledger just does not know yet what became of a document in flight. */
export function isBehind(kept: SaleDocument, told: SaleDocument): boolean {
  return IN_FLIGHT_STATUSES.includes(kept.status) && kept.status !== told.status;
}

/** What the service tells otherwise than the ledger, a sentence each. */
export function differences(kept: SaleDocument, told: SaleDocument): string[] {
  const found: string[] = [];
  const same = (name: string, ours: Told, theirs: Told): void => {
    if ((ours ?? null) !== (theirs ?? null)) found.push(`${name} is ${shown(theirs)}, in the ledger ${shown(ours)}`);
  };
  const near = (name: string, ours: number, theirs: number): void => {
    if (differsByMoreThan(TOLERANCE, ours, theirs)) found.push(`${name} is ${theirs}, in the ledger ${ours}`);
  };
  same("the status", kept.status, told.status);
  same("the type", kept.type, told.type);
  same("the number", kept.traderInvoiceNumber, told.traderInvoiceNumber);
  same("the date", kept.saleDate, told.saleDate);
  same("the reversed sale", kept.originalSaleId, told.originalSaleId);
  same("the receipt's CU number", kept.receipt?.cuInvoiceNo, told.receipt?.cuInvoiceNo);
  near("the total", kept.totals.total, told.totals.total);
  near("the taxable amount", kept.totals.taxableAmount, told.totals.taxableAmount);
  near("the tax", kept.totals.taxAmount, told.totals.taxAmount);
  same("the number of lines", kept.lines.length, told.lines.length);
  for (const [index, ours] of kept.lines.entries()) {
    const theirs = told.lines[index];
    if (!theirs || kept.lines.length !== told.lines.length) break;
    const line = `line ${index + 1}`;
    same(`the item of ${line}`, ours.itemId, theirs.itemId);
    same(`the tax rate of ${line}`, ours.taxRate, theirs.taxRate);
    same(`the quantity of ${line}`, ours.quantity, theirs.quantity);
    near(`the total of ${line}`, ours.total, theirs.total);
    near(`the tax of ${line}`, ours.taxAmount, theirs.taxAmount);
  }
  return found;
}

type Told = string | number | null | undefined;

function shown(value: Told): string {
  return value === null || value === undefined ? "not there" : String(value);
}
