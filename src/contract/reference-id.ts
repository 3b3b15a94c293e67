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
 */
export function stockReferenceId(traderInvoiceNumber: string, itemId: string, purpose: MovementPurpose): string {
  const name = [traderInvoiceNumber, itemId, purpose].map(escapedPart).join("/");
  return boundedName(name, MAX_REFERENCE_LENGTH);
}
