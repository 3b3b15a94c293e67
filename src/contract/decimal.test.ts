import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { differsByMoreThan, documentWorthOf, sumOf, weightedPrice } from "./decimal.ts";

/** A number of up to `places` decimal places, written as one: `12345` with two places is 123.45. */
const decimals = (min: number, max: number, places: number) =>
  fc.integer({ min, max }).map((units) => ({ units: BigInt(units), value: Number(`${units}e-${places}`) }));

describe("a sum", () => {
  test.each([
    ["of nothing", [], 0],
    ["of 0.1 and 0.2", [0.1, 0.2], 0.3],
    ["of three times 1.1", [1.1, 1.1, 1.1], 3.3],
    ["with negative parts", [0.3, -0.1, -0.2], 0],
    ["of a negative fraction", [-0.5], -0.5],
    ["with a small exponent", [1e-7, 2e-7], 3e-7],
    ["with a fraction and a small exponent", [1.5e-7, -0.5e-7], 1e-7],
    ["with a large exponent", [1e21, 1e21], 2e21],
    ["that meets both exponents", [1e21, 1e-7, -1e21], 1e-7],
  ])("%s is exact", (_what, numbers, total) => {
    expect(sumOf(numbers)).toBe(total);
  });

  test("equals the exact sum of the cents, for any amounts", () => {
    fc.assert(
      fc.property(fc.array(decimals(-1_000_000_000, 1_000_000_000, 2)), (parts) => {
        const units = parts.reduce((sum, part) => sum + part.units, 0n);
        expect(sumOf(parts.map((part) => part.value))).toBe(Number(`${units}e-2`));
      }),
    );
  });
});

describe("two amounts, at a tolerance of 0.01,", () => {
  test.each([
    [232, 232],
    [232, 232.01],
    [232.01, 232],
    [0.1 + 0.2, 0.3],
    [1.005, 1.015],
    [-232, -232.01],
    [0, -0],
    [1e21, 1e21],
    [1e-7, 0],
  ])("%d and %d do not differ", (a, b) => {
    expect(differsByMoreThan(0.01, a, b)).toBe(false);
  });

  test.each([
    [232, 232.0100001],
    [232.0100001, 232],
    [0, 0.0100001],
    [232, -232],
    [-0.005, 0.0051],
    [1e21, 1],
  ])("%d and %d differ", (a, b) => {
    expect(differsByMoreThan(0.01, a, b)).toBe(true);
  });

  test("differ exactly where their units are further apart, whichever comes first", () => {
    const amount = decimals(-100_000, 100_000, 3);
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const apart = a.units > b.units ? a.units - b.units : b.units - a.units;
        expect(differsByMoreThan(0.01, a.value, b.value)).toBe(apart > 10n);
        expect(differsByMoreThan(0.01, b.value, a.value)).toBe(apart > 10n);
      }),
    );
  });
});

describe("a quantity-weighted price", () => {
  test.each([
    ["of one line is its price", [{ quantity: 3, unitPrice: 0.1234567 }], 0.1234567],
    [
      "of equal prices is that price, whatever its places",
      [
        { quantity: 1, unitPrice: 1.23456789 },
        { quantity: 2, unitPrice: 1.23456789 },
      ],
      1.23456789,
    ],
    [
      "that ends is exact",
      [
        { quantity: 1, unitPrice: 100 },
        { quantity: 3, unitPrice: 116 },
      ],
      112,
    ],
    [
      "that does not end is rounded to six places",
      [
        { quantity: 1, unitPrice: 1 },
        { quantity: 2, unitPrice: 2 },
      ],
      1.666667,
    ],
    [
      "that lies between two sixth places is rounded up",
      [
        { quantity: 1, unitPrice: 0.000001 },
        { quantity: 1, unitPrice: 0.000002 },
      ],
      0.000002,
    ],
    [
      "of fractional quantities is weighted by them",
      [
        { quantity: 0.1, unitPrice: 10 },
        { quantity: 0.2, unitPrice: 40 },
      ],
      30,
    ],
    [
      "counts what is given away",
      [
        { quantity: 1, unitPrice: 0 },
        { quantity: 1, unitPrice: 10 },
      ],
      5,
    ],
  ])("%s", (_what, parts, price) => {
    expect(weightedPrice(parts)).toBe(price);
  });

  const parts = fc.array(fc.record({ quantity: decimals(1, 1_000_000, 3), unitPrice: decimals(0, 100_000_000, 4) }), {
    minLength: 1,
    maxLength: 8,
  });
  const numbers = (of: { quantity: { value: number }; unitPrice: { value: number } }[]) =>
    of.map(({ quantity, unitPrice }) => ({ quantity: quantity.value, unitPrice: unitPrice.value }));

  test("lies between the lowest and the highest price", () => {
    fc.assert(
      fc.property(parts, (some) => {
        const prices = some.map(({ unitPrice }) => unitPrice.value);
        const price = weightedPrice(numbers(some));
        expect(price).toBeGreaterThanOrEqual(Math.min(...prices));
        expect(price).toBeLessThanOrEqual(Math.max(...prices));
      }),
    );
  });

  test("is the exact fraction, to within half of the sixth place", () => {
    fc.assert(
      fc.property(parts, (some) => {
        const quantity = some.reduce((sum, part) => sum + part.quantity.units, 0n);
        const total = some.reduce((sum, part) => sum + part.quantity.units * part.unitPrice.units, 0n);
        // The prices carry four places, the rounded price six: total / quantity × 100 is the exact one in sixth places.
        const rounded = BigInt(Math.round(weightedPrice(numbers(some)) * 1e6));
        const off = rounded * quantity - total * 100n;
        expect(2n * (off < 0n ? -off : off) <= quantity).toBe(true);
      }),
    );
  });
});

describe("what a document of some lines is going to state", () => {
  test.each([
    ["half a cent is rounded up", [{ quantity: 2.5, unitPrice: 165.35 }], "413.38"],
    ["each line is rounded by itself", Array(3).fill({ quantity: 1, unitPrice: 0.335 }), "1.02"],
    ["less than half a cent is dropped", [{ quantity: 3, unitPrice: 0.0016 }], "0"],
    ["whole cents stay as they are", [{ quantity: 2, unitPrice: 350.5 }], "701"],
    ["without lines it is nothing", [], "0"],
  ])("%s", (_what, lines, total) => {
    expect(documentWorthOf(lines)).toBe(total);
  });
});
