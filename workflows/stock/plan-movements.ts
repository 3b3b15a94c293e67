import {
  type KnownItem,
  type MovementPurpose,
  type ResolvedLine,
  type StockAction,
  stockReferenceId,
  type StockMovement,
  sumOf,
  weightedPrice,
} from "../../src/contract/index.ts";

/** One movement for each stock-tracked item: lines of one item are added up, at their quantity-weighted price. */
export function planMovements(
  number: string,
  purpose: MovementPurpose,
  lines: readonly ResolvedLine[],
  items: readonly KnownItem[],
): StockMovement[] {
  const tracked = new Set(items.filter((item) => item.stockTracked).map((item) => item.id));
  const linesByItem = new Map<string, ResolvedLine[]>();
  for (const line of lines) {
    if (!tracked.has(line.itemId)) continue;
    linesByItem.set(line.itemId, [...(linesByItem.get(line.itemId) ?? []), line]);
  }
  return [...linesByItem].map(([itemId, itemLines]) => ({
    referenceId: stockReferenceId(number, itemId, purpose),
    purpose,
    action: actionOf(purpose),
    itemId,
    quantity: sumOf(itemLines.map((line) => line.quantity)),
    unitPrice: weightedPrice(itemLines),
    state: "planned",
  }));
}

/** The movement that gives another one's goods back. */
export function reversalOf(movement: StockMovement, number: string, purpose: "undone" | "restocked"): StockMovement {
  const { itemId, quantity, unitPrice, branchId } = movement;
  return {
    referenceId: stockReferenceId(number, itemId, purpose),
    purpose,
    action: actionOf(purpose),
    itemId,
    quantity,
    unitPrice,
    state: "planned",
    undoes: movement.referenceId,
    ...(branchId !== undefined && { branchId }),
  };
}

function actionOf(purpose: MovementPurpose): StockAction {
  return purpose === "sold" ? "DEDUCT" : "ADD";
}
