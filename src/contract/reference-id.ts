import { boundedName } from "./bounded-name.ts";
import { escapedPart } from "./escaped-part.ts";

/** Fiscal Compliance API, "Limits": a stock adjustment's `referenceId` has at most 100 characters. */
export const MAX_REFERENCE_LENGTH = 100;

/**
 * `sold`: taken from stock by a sale; `undone`: given back, since the sale ended; `restocked`: given back by a refund.
 */
export type MovementPurpose = "sold" | "undone" | "restocked";

/**
 * The caller's own reference of a stock movement: readable, and unique for each document, item and purpose. Parts are
 * escaped, so that no invoice number can be written as another one's movement.
 * @param part of an item that is moved at several prices: which of its movements it is, from 1
 */
export function stockReferenceId(
  traderInvoiceNumber: string,
  itemId: string,
  purpose: MovementPurpose,
  part?: number,
): string {
  const parts = [traderInvoiceNumber, itemId, purpose, ...(part === undefined ? [] : [String(part)])];
  return boundedName(parts.map(escapedPart).join("/"), MAX_REFERENCE_LENGTH);
}

/** A document has no more lines than that: so many movements of one item, at most. */
const MOST_PARTS = 1_000;

/**
 * The reference of the movement that gives back what another one took: of an item's movement at one of several prices,
 * the same part.
 * @param taken the reference of the movement that took it, for the sale `soldAs`
 * @param number of the document for which it is given back
 */
export function reversalReferenceId(
  taken: string,
  { soldAs, itemId, number, purpose }: { soldAs: string; itemId: string; number: string; purpose: MovementPurpose },
): string {
  const part = partOf(taken, soldAs, itemId);
  return stockReferenceId(number, itemId, purpose, part);
}

/** Undefined for an item's only movement. A long reference ends in a digest, so that its part cannot be read off. */
function partOf(taken: string, soldAs: string, itemId: string): number | undefined {
  if (taken === stockReferenceId(soldAs, itemId, "sold")) return undefined;
  for (let part = 1; part <= MOST_PARTS; part++)
    if (taken === stockReferenceId(soldAs, itemId, "sold", part)) return part;
  return undefined;
}
