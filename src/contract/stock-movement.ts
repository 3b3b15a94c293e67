import { boundedName, escapedPart } from "./ids.ts";

export type StockAction = "ADD" | "DEDUCT";

/**
 * `planned`: not sent yet. `sending`: an answer is awaited. `applied`: by the service's answer or an operator's
 * decision. `unknown`: an operator must say. `refused`: the service refused it, and it waits for an operator.
 * `dropped`: never sent, or refused, and given up.
 */
export type MovementState = "planned" | "sending" | "applied" | "unknown" | "refused" | "dropped";

/** A movement as people call it: `Take 2 × Unga from stock, branch branch_1`. */
export function movementInWords(
  { action, quantity, itemId, branchId }: Pick<StockMovement, "action" | "quantity" | "itemId" | "branchId">,
  itemName = itemId,
): string {
  const goods = `${quantity} × ${itemName}`;
  const moved = action === "DEDUCT" ? `Take ${goods} from stock` : `Return ${goods} to stock`;
  return branchId === undefined ? moved : `${moved}, branch ${branchId}`;
}

/** What a movement is for: it does not change, whichever run sends it. */
export interface MovementOrigin {
  /** The document that it belongs to. */
  type: "sale" | "credit_note";
  number: string;
  purpose: MovementPurpose;
  /**
   * The reference of the movement that this one gives back. A `restocked` movement without it was decided by an operator,
   * who named the branch.
   */
  undoes?: string | undefined;
}

export interface StockMovement {
  referenceId: string;
  purpose: MovementPurpose;
  action: StockAction;
  itemId: string;
  quantity: number;
  unitPrice: number;
  state: MovementState;
  /** The branch that was asked for, and once there is an answer the one that the answer names. */
  branchId?: string;
  movementId?: string;
  quantityOnHand?: number;
  /** The report to the tax authority, where it is not `ok`. */
  report?: { stockIo?: string; stockMaster?: string };
  /** As {@link MovementOrigin.undoes}. */
  undoes?: string;
  sentAtMs?: number;
  /** Set where an operator answered for an unknown outcome. */
  decision?: MovementDecision;
}

/** Each is made, or given up: no answer is awaited, and nobody has to answer for one. */
export function areSettled(movements: readonly Pick<StockMovement, "state">[]): boolean {
  return movements.every(({ state }) => state === "applied" || state === "dropped");
}

export interface MovementDecision {
  applied: boolean;
  note: string;
  by?: string;
  atMs: number;
  /** Set where the item's balance spoke against the answer. */
  contradicts?: BalanceSeen;
}

/** The first balance of the item after the movement was sent, and what it would be with the movement and without it. */
export interface BalanceSeen {
  quantityOnHand: number;
  ifApplied: number;
  ifNot: number;
}

/** The balance in the evidence of an unknown movement, where it speaks against this answer. It decides nothing. */
export function balanceAgainst(
  { balanceSpeaks, laterQuantityOnHand, expectedIfApplied, expectedIfNot }: Readonly<Record<string, unknown>>,
  applied: boolean,
): BalanceSeen | undefined {
  if (balanceSpeaks !== (applied ? "against" : "for")) return undefined;
  const seen = { quantityOnHand: laterQuantityOnHand, ifApplied: expectedIfApplied, ifNot: expectedIfNot };
  return Object.values(seen).every((one) => typeof one === "number") ? (seen as BalanceSeen) : undefined;
}

export function balanceInWords({ quantityOnHand, ifApplied, ifNot }: BalanceSeen): string {
  return `against the balance: ${quantityOnHand} seen, ${ifApplied} expected if it was applied, ${ifNot} if not`;
}

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
