import { sumOf } from "../../contract/index.ts";
import type { Books } from "../simulator/index.ts";
import type { DemoPlan } from "./demo-plan.ts";
import { type ExpectedMovement, expectedMovements } from "./expected-movements.ts";

/** Each movement that the examples lead to is in the books once, and nothing else. */
export function movementDifferences(plan: DemoPlan, { movements }: Books): string[] {
  const expected = plan.examples.flatMap((example) => expectedMovements(plan, example));
  const missingOrRepeated = expected.flatMap((wanted) => {
    const booked = movements.filter(({ referenceId }) => referenceId === wanted.referenceId);
    const [movement] = booked;
    if (movement === undefined) return [`${shown(wanted)} is not in the books`];
    if (booked.length > 1) return [`${shown(wanted)} is in the books ${booked.length} times`];
    const { action, itemId, quantity } = movement;
    const same = action === wanted.action && itemId === wanted.itemId && quantity === wanted.quantity;
    return same ? [] : [`${shown(wanted)} is in the books as ${action} ${quantity} of ${itemId}`];
  });
  const references = new Set(expected.map(({ referenceId }) => referenceId));
  const strange = movements
    .filter(({ referenceId }) => referenceId === null || !references.has(referenceId))
    .map(({ action, quantity, itemId, referenceId }) => {
      return `the books have a stock movement nobody asked for: ${action} ${quantity} of ${itemId} (${referenceId ?? "no reference"})`;
    });
  return [...missingOrRepeated, ...strange];
}

function shown({ action, quantity, itemId, referenceId }: ExpectedMovement): string {
  return `the stock movement ${referenceId} (${action} ${quantity} of ${itemId})`;
}

/** What is left of each item. */
export function stockDifferences(plan: DemoPlan, { stockOnHand }: Books): string[] {
  const moved = plan.examples.flatMap((example) => expectedMovements(plan, example));
  return plan.scenario.items.flatMap(({ id, onHand }) => {
    const changes = moved
      .filter(({ itemId }) => itemId === id)
      .map(({ action, quantity }) => (action === "ADD" ? quantity : -quantity));
    const wanted = sumOf([...Object.values(onHand), ...changes]);
    const booked = sumOf(Object.values(stockOnHand[id] ?? {}));
    return booked === wanted ? [] : [`the stock of ${id} is ${booked} in the books, expected ${wanted}`];
  });
}
