import { describe, expect, test } from "vitest";

import type { Item, SaleLineInput } from "../../src/contract/index.ts";
import { knownItem, resolveLines } from "./catalogue.ts";

const tea: Item = {
  id: "item_tea",
  externalId: "ext-tea",
  sku: "TEA-500",
  name: "Tea",
  stockTracked: true,
  registrationStatus: "REGISTERED",
  needs: { productType: false },
};
const flour: Item = { ...tea, id: "item_flour", externalId: "ext-flour", sku: "FLOUR-2", name: "Flour" };
const sold = { quantity: 1, unitPrice: 1 };

describe("a line", () => {
  test.each([
    ["its id", { itemId: "item_tea" }],
    ["the caller's own id", { externalId: "ext-tea" }],
    ["its sku", { sku: "TEA-500" }],
  ])("names its item by %s", (_what, name) => {
    const result = resolveLines([{ ...name, ...sold }], [flour, tea]);
    expect(result).toMatchObject({ kind: "resolved", items: [{ id: "item_tea" }] });
  });

  test.each([
    [{ itemId: "TEA-500" }, 'no item has itemId "TEA-500"'],
    [{ externalId: "item_tea" }, 'no item has externalId "item_tea"'],
    [{ sku: "tea-500" }, 'no item has sku "tea-500"'],
  ])("that names none is unknown: %j", (name, reason) => {
    expect(resolveLines([{ ...name, ...sold }], [tea])).toEqual({
      kind: "unknown",
      unknown: [{ line: 0, reason }],
      items: [],
    });
  });

  test("that names an item whose row cannot be read says which field is wrong", () => {
    const odd = { names: { id: "item_sugar", sku: "SUGAR" }, field: "stockTracked", problem: "expected boolean" };
    for (const name of [{ itemId: "item_sugar" }, { sku: "SUGAR" }]) {
      const result = resolveLines([{ ...name, ...sold }], [tea], [odd]);
      expect(result).toMatchObject({
        kind: "unknown",
        unknown: [{ reason: expect.stringMatching(/is in the list.*"stockTracked"/) }],
      });
    }
    expect(resolveLines([{ sku: "TEA-500", ...sold }], [tea], [odd])).toMatchObject({ kind: "resolved" });
    expect(resolveLines([{ sku: "TEA-500", ...sold }], [tea], [{ ...odd, names: { sku: "TEA-500" } }])).toMatchObject({
      unknown: [{ reason: '2 items have sku "TEA-500"' }],
    });
    expect(resolveLines([{ sku: "RICE", ...sold }], [tea], [{ ...odd, names: {} }])).toMatchObject({
      unknown: [
        { reason: expect.stringMatching(/no item has sku "RICE"; 1 item of the list cannot be read.*"stockTracked"/) },
      ],
    });
  });

  test("that names two is unknown, and neither is taken", () => {
    const twin = { ...flour, sku: "TEA-500" };
    expect(resolveLines([{ sku: "TEA-500", ...sold }], [tea, twin])).toEqual({
      kind: "unknown",
      unknown: [{ line: 0, reason: '2 items have sku "TEA-500"' }],
      items: [],
    });
  });

  test("without a name does not fit an item without one", () => {
    const { sku: _sku, ...nameless } = tea;
    expect(resolveLines([sold as SaleLineInput], [nameless, { ...flour, sku: null }])).toMatchObject({
      kind: "unknown",
    });
  });

  test("that is unknown is named, and the items of the others are known", () => {
    const lines = [{ itemId: "item_tea" }, { sku: "X" }, { externalId: "Y" }].map((name) => ({ ...name, ...sold }));
    expect(resolveLines(lines, [tea])).toEqual({
      kind: "unknown",
      unknown: [
        { line: 1, reason: 'no item has sku "X"' },
        { line: 2, reason: 'no item has externalId "Y"' },
      ],
      items: [{ id: "item_tea", name: "Tea", registrationStatus: "REGISTERED", stockTracked: true }],
    });
  });
});

describe("resolved lines", () => {
  test("keep their order, and one item may have several", () => {
    const lines = [{ sku: "FLOUR-2" }, { itemId: "item_tea" }, { externalId: "ext-flour" }];
    const result = resolveLines(
      lines.map((name) => ({ ...name, ...sold })),
      [tea, flour],
    );
    expect(result).toMatchObject({
      kind: "resolved",
      items: [{ id: "item_flour" }, { id: "item_tea" }, { id: "item_flour" }],
    });
  });

  test("carry of an item only what a sale needs", () => {
    expect(knownItem(tea)).toEqual({
      id: "item_tea",
      stockTracked: true,
      registrationStatus: "REGISTERED",
    });
    const pending = { ...tea, registrationStatus: "PENDING", name: "Tea ".repeat(100) };
    expect(knownItem(pending)).toEqual({
      id: "item_tea",
      name: "Tea ".repeat(10),
      stockTracked: true,
      registrationStatus: "PENDING",
    });
  });

  test("carry the names of registered items where there are few lines", () => {
    const itemsOf = (count: number) => resolveLines(Array(count).fill({ itemId: "item_tea", ...sold }), [tea]);
    expect(itemsOf(50)).toMatchObject({ items: [{ name: "Tea" }, ...Array(49).fill({})] });
    expect(JSON.stringify(itemsOf(51))).not.toContain("Tea");
  });

  test("carry null for a name that the API does not have", () => {
    expect(knownItem({ id: "i", stockTracked: false, registrationStatus: "PENDING" })).toMatchObject({
      name: null,
    });
  });
});
