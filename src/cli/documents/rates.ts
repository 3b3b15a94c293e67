import type { DocumentsOfBusiness, ListedDocument } from "../../ledger/index.ts";
import { plain } from "../report/money.ts";

type TaxOfRate = Pick<ListedDocument["taxes"][number], "taxRate" | "taxTypeCode">;

/** One rate of tax under one name, however many zeros it was written with: `B_16`. */
export function rateName({ taxRate, taxTypeCode }: TaxOfRate): string {
  return `${taxTypeCode ?? "none"}_${plain(taxRate)}`;
}

/** The rates of all signed documents, the highest first. */
export function ratesOf(businesses: readonly DocumentsOfBusiness[]): string[] {
  const rates = businesses.flatMap(({ taxes }) => taxes);
  return [...new Set(rates.toSorted((a, b) => Number(b.taxRate) - Number(a.taxRate)).map(rateName))];
}
