import { randomUUID } from "node:crypto";
import type { ItemRecord } from "./catalogue.ts";
import { fromCents, negated, productInCents, taxInsideCents, taxOnTopCents } from "./decimal.ts";
import type { SaleLine, Totals } from "./document-record.ts";

export interface LineRequest {
  item: ItemRecord;
  quantity: number;
  unitPrice: number;
  description: string | null;
}

/** A line with its amounts, each rounded half up to cents. */
export function priceLine(
  { item, quantity, unitPrice, description }: LineRequest,
  taxRate: number,
  unitPriceIncludesTax: boolean,
): SaleLine {
  const amountCents = productInCents(quantity, unitPrice);
  const taxCents = unitPriceIncludesTax ? taxInsideCents(amountCents, taxRate) : taxOnTopCents(amountCents, taxRate);
  const totalCents = unitPriceIncludesTax ? amountCents : amountCents + taxCents;
  return {
    id: `line_${randomUUID()}`,
    itemId: item.id,
    name: item.name,
    description,
    quantity,
    unitPrice,
    total: fromCents(totalCents),
    taxableAmount: fromCents(totalCents - taxCents),
    taxAmount: fromCents(taxCents),
    taxRate,
    taxTypeCode: item.taxTypeCode,
  };
}

/** Sums in whole cents, so that no binary drift gets into a total. */
export function sumLines(lines: readonly SaleLine[]): Totals {
  const sum = (amountOf: (line: SaleLine) => number): number =>
    fromCents(lines.reduce((cents, line) => cents + Math.round(amountOf(line) * 100), 0));
  return {
    total: sum((line) => line.total),
    taxableAmount: sum((line) => line.taxableAmount),
    taxAmount: sum((line) => line.taxAmount),
  };
}

/** The line of a credit note: quantity and amounts negative, the unit price as it was. */
export function reversedLine(line: SaleLine): SaleLine {
  return {
    ...line,
    id: `line_${randomUUID()}`,
    quantity: negated(line.quantity),
    total: negated(line.total),
    taxableAmount: negated(line.taxableAmount),
    taxAmount: negated(line.taxAmount),
  };
}
