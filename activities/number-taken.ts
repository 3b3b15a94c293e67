import type { NumberOwner } from "../src/ledger/index.ts";

/** For people: the sale by its own number, where it is known, and by what the service knows it by. */
export function numberTaken(number: string, { saleId, sale, holder }: NumberOwner): string {
  return `The number ${number} belongs to the credit note of another sale: ${sale} (${saleId}), of ${holder}.`;
}
