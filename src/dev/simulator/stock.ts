import { randomUUID } from "node:crypto";
import { addExactly, negated } from "./decimal.ts";

/** One line of the stock journal. */
export interface Movement {
  movementId: string;
  atMs: number;
  application: string;
  businessId: string;
  branchId: string;
  itemId: string;
  action: "ADD" | "DEDUCT";
  quantity: number;
  unitPrice: number | null;
  referenceId: string | null;
  onHandBefore: number;
  onHandAfter: number;
}

/** Stock on hand for each item and branch, and every movement that changed it. */
export class Stock {
  readonly #onHand = new Map<string, Map<string, number>>();
  readonly #movements: Movement[] = [];

  set(itemId: string, onHandByBranch: Readonly<Record<string, number>>): void {
    const branches = this.#branches(itemId);
    for (const [branchId, quantity] of Object.entries(onHandByBranch)) branches.set(branchId, quantity);
  }

  /** Each call is a movement of its own; nothing is de-duplicated (document, POST /v1/stock/adjustments). */
  move(asked: Omit<Movement, "movementId" | "onHandBefore" | "onHandAfter">): Movement {
    const branches = this.#branches(asked.itemId);
    const onHandBefore = branches.get(asked.branchId) ?? 0;
    const change = asked.action === "ADD" ? asked.quantity : negated(asked.quantity);
    const onHandAfter = addExactly(onHandBefore, change);
    branches.set(asked.branchId, onHandAfter);
    const movement: Movement = { movementId: `movement_${randomUUID()}`, ...asked, onHandBefore, onHandAfter };
    this.#movements.push(movement);
    return movement;
  }

  movements(): readonly Movement[] {
    return this.#movements;
  }

  onHand(): Record<string, Record<string, number>> {
    return Object.fromEntries([...this.#onHand].map(([itemId, branches]) => [itemId, Object.fromEntries(branches)]));
  }

  #branches(itemId: string): Map<string, number> {
    const known = this.#onHand.get(itemId);
    if (known !== undefined) return known;
    const branches = new Map<string, number>();
    this.#onHand.set(itemId, branches);
    return branches;
  }
}
