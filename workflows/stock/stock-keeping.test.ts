import { describe, expect, test } from "vitest";
import fc from "fast-check";

import { type KnownItem, type ResolvedLine, worthOf } from "../../src/contract/index.ts";
import { planMovements, reversalOf } from "./stock-keeping.ts";

const item = (id: string, stockTracked = true): KnownItem => ({ id, stockTracked, registrationStatus: "REGISTERED" });
const line = (itemId: string, quantity: number, unitPrice: number): ResolvedLine => ({ itemId, quantity, unitPrice });

describe("the movements of a sale", () => {
  test("take each stock-tracked item out of stock, in the order of the lines", () => {
    const lines = [line("tea", 2, 350), line("flour", 1, 210.5)];
    expect(planMovements("INV-1", "sold", lines, [item("tea"), item("flour")])).toEqual([
      {
        referenceId: "INV-1/tea/sold",
        purpose: "sold",
        action: "DEDUCT",
        itemId: "tea",
        quantity: 2,
        unitPrice: 350,
        state: "planned",
      },
      {
        referenceId: "INV-1/flour/sold",
        purpose: "sold",
        action: "DEDUCT",
        itemId: "flour",
        quantity: 1,
        unitPrice: 210.5,
        state: "planned",
      },
    ]);
  });

  test("leave out what is not tracked", () => {
    const lines = [line("delivery", 1, 200), line("tea", 1, 350)];
    const planned = planMovements("INV-1", "sold", lines, [item("delivery", false), item("tea")]);
    expect(planned.map(({ itemId }) => itemId)).toEqual(["tea"]);
  });

  test("are none for a sale of services", () => {
    expect(planMovements("INV-1", "sold", [line("delivery", 1, 200)], [item("delivery", false)])).toEqual([]);
  });

  test("add up the lines of one item, exactly, at their quantity-weighted price", () => {
    const lines = [line("tea", 0.1, 300), line("flour", 1, 1), line("tea", 0.2, 330)];
    expect(planMovements("INV-1", "sold", lines, [item("tea"), item("flour"), item("tea")])).toMatchObject([
      { itemId: "tea", quantity: 0.3, unitPrice: 320 },
      { itemId: "flour", quantity: 1, unitPrice: 1 },
    ]);
  });

  test("are one for each price where no single price is exact: together they are worth what the lines are", () => {
    const lines = [
      line("tea", 1, 1_000_000),
      line("flour", 1, 1),
      line("tea", 2, 2_000_000),
      line("tea", 3, 1_000_000),
    ];
    const planned = planMovements("INV-1", "sold", lines, [item("tea"), item("flour")]);
    expect(planned).toMatchObject([
      { referenceId: "INV-1/tea/sold/1", itemId: "tea", quantity: 4, unitPrice: 1_000_000 },
      { referenceId: "INV-1/tea/sold/2", itemId: "tea", quantity: 2, unitPrice: 2_000_000 },
      { referenceId: "INV-1/flour/sold", itemId: "flour", quantity: 1, unitPrice: 1 },
    ]);
    expect(worthOf(planned)).toBe(worthOf(lines));
  });

  test("are worth what the lines are, whatever the quantities and prices", () => {
    const quantity = fc.integer({ min: 1, max: 1_000_000 }).map((units) => Number(`${units}e-3`));
    const unitPrice = fc.integer({ min: 0, max: 1_000_000_000 }).map((units) => Number(`${units}e-4`));
    const some = fc.record({ itemId: fc.constantFrom("tea", "flour"), quantity, unitPrice });
    fc.assert(
      fc.property(fc.array(some, { minLength: 1, maxLength: 8 }), (lines) => {
        const planned = planMovements("INV-1", "sold", lines, [item("tea"), item("flour")]);
        expect(worthOf(planned)).toBe(worthOf(lines));
        expect(new Set(planned.map(({ referenceId }) => referenceId)).size).toBe(planned.length);
      }),
    );
  });

  test("have references of their own, at most 100 characters long, whatever the number and the items", () => {
    const id = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 50 }),
        fc.uniqueArray(id, { minLength: 1, maxLength: 6 }),
        (number, ids) => {
          const lines = ids.flatMap((one) => [line(one, 1, 1), line(one, 2, 2)]);
          const planned = planMovements(
            number,
            "sold",
            lines,
            ids.map((one) => item(one)),
          );
          const references = planned.map(({ referenceId }) => referenceId);
          expect(new Set(references).size).toBe(2 * ids.length);
          for (const reference of references) expect(reference.length).toBeLessThanOrEqual(100);
        },
      ),
    );
  });

  test("have the action ADD where they are planned for a return", () => {
    expect(planMovements("CN-1", "restocked", [line("tea", 2, 350)], [item("tea")])).toMatchObject([
      { referenceId: "CN-1/tea/restocked", action: "ADD", quantity: 2 },
    ]);
  });
});

describe("the reversal of a movement", () => {
  const [sold] = planMovements("INV-1", "sold", [line("tea", 2, 350)], [item("tea")]);
  if (!sold) throw new Error("a movement was expected");
  const UNDONE = { purpose: "undone", number: "INV-1", soldAs: "INV-1" } as const;

  test.each(["undone", "restocked"] as const)("gives back what was taken, and names it (%s)", (purpose) => {
    expect(reversalOf(sold, { purpose, number: "INV-1", soldAs: "INV-1" })).toEqual({
      referenceId: `INV-1/tea/${purpose}`,
      purpose,
      action: "ADD",
      itemId: "tea",
      quantity: 2,
      unitPrice: 350,
      state: "planned",
      undoes: "INV-1/tea/sold",
    });
  });

  test("of one price of an item has a reference of its own", () => {
    const lines = [line("tea", 1, 1), line("tea", 2, 2)];
    const planned = planMovements("INV-1", "sold", lines, [item("tea")]);
    const back = planned.map((one) => reversalOf(one, { purpose: "restocked", number: "CN-1", soldAs: "INV-1" }));
    expect(back).toMatchObject([
      { referenceId: "CN-1/tea/restocked/1", undoes: "INV-1/tea/sold/1", quantity: 1, unitPrice: 1 },
      { referenceId: "CN-1/tea/restocked/2", undoes: "INV-1/tea/sold/2", quantity: 2, unitPrice: 2 },
    ]);
  });

  test("goes back to the branch from which the goods were taken", () => {
    expect(reversalOf({ ...sold, branchId: "branch_2" }, UNDONE)).toMatchObject({ branchId: "branch_2" });
  });

  test("takes over no answer and no decision of the original movement", () => {
    const settled = {
      ...sold,
      state: "applied" as const,
      movementId: "mov_1",
      quantityOnHand: 98,
      sentAtMs: 1,
      decision: { applied: true, note: "counted", atMs: 2 },
    };
    expect(reversalOf(settled, UNDONE)).toEqual(reversalOf(sold, UNDONE));
  });
});
