import type { MovementPurpose } from "./reference-id.ts";

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
