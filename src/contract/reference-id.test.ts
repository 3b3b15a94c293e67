import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { stockReferenceId } from "./stock-movement.ts";
import { anyInvoiceNumber, printable } from "./test-support/arbitraries.ts";

const purpose = fc.constantFrom("sold" as const, "undone" as const, "restocked" as const);

describe("the reference of a stock movement", () => {
  test("names document, item and purpose", () => {
    expect(stockReferenceId("INV-1001", "itm_1", "sold")).toBe("INV-1001/itm_1/sold");
  });

  test("of the longest number and a long item id keeps a readable prefix", () => {
    const reference = stockReferenceId(`INV-${"9".repeat(46)}`, "itm".repeat(20), "sold");
    expect(reference).toMatch(/^INV-9+~[0-9a-f]{64}$/);
    expect(reference).toHaveLength(100);
  });

  test("cannot imitate another document's by a number with slashes", () => {
    expect(stockReferenceId("A/itm_1", "itm_2", "sold")).not.toBe(stockReferenceId("A", "itm_1/itm_2", "sold"));
  });

  test("has at most 100 characters and is shared by no two of document, item and purpose", () => {
    const movement = fc.tuple(anyInvoiceNumber, printable(60), purpose);
    fc.assert(
      fc.property(movement, movement, (a, b) => {
        expect(stockReferenceId(...a).length).toBeLessThanOrEqual(100);
        const same = a.every((part, i) => part === b[i]);
        expect(stockReferenceId(...a) === stockReferenceId(...b)).toBe(same);
      }),
    );
  });

  test("differs for each purpose of one document and item", () => {
    fc.assert(
      fc.property(anyInvoiceNumber, printable(60), (number, item) => {
        const all = (["sold", "undone", "restocked"] as const).map((one) => stockReferenceId(number, item, one));
        expect(new Set(all).size).toBe(3);
      }),
    );
  });
});
