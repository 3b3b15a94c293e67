import type { Books } from "../../src/dev/simulator/index.ts";

/** Written apart from the ledger: whole cents in a BigInt, and no SQL. */
export interface Sums {
  count: number;
  total: string;
  taxableAmount: string;
  taxAmount: string;
}

type Document = Books["documents"][number];

/** Signed documents of a period: how many, and how much. */
export function sumsOf(
  documents: readonly Document[],
  type: Document["type"] | "both",
  from: string,
  to: string,
): Sums {
  const counted = signed(documents, from, to).filter((document) => type === "both" || document.type === type);
  return {
    count: counted.length,
    total: inUnits(counted.map(({ totals }) => totals.total)),
    taxableAmount: inUnits(counted.map(({ totals }) => totals.taxableAmount)),
    taxAmount: inUnits(counted.map(({ totals }) => totals.taxAmount)),
  };
}

/** Net tax by rate and letter, from the lines: `16 B` → amount. */
export function taxOf(documents: readonly Document[], from: string, to: string): Record<string, string> {
  const byRate = new Map<string, number[]>();
  for (const { lines } of signed(documents, from, to)) {
    for (const { taxRate, taxTypeCode, taxAmount } of lines) {
      const rate = `${taxRate} ${taxTypeCode}`;
      byRate.set(rate, [...(byRate.get(rate) ?? []), taxAmount]);
    }
  }
  return Object.fromEntries([...byRate].map(([rate, amounts]) => [rate, inUnits(amounts)]));
}

function signed(documents: readonly Document[], from: string, to: string): Document[] {
  return documents.filter(
    ({ status, saleDate }) => status === "completed" && saleDate !== null && saleDate >= from && saleDate <= to,
  );
}

/** The simulator's amounts have two places: times a hundred they are whole but for the binary fraction. */
export function inUnits(amounts: readonly number[]): string {
  const cents = amounts.reduce((sum, amount) => sum + BigInt(Math.round(amount * 100)), 0n);
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, "0");
  return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** As the sums are written here: two places. */
export function inCents(amount: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
}
