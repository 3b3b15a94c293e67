import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { addExactly, productInCents, taxInsideCents } from "./decimal.ts";

describe("amounts", () => {
  test("round half up on the decimal that is written, not on its binary neighbour", () => {
    expect(productInCents(1, 1.005)).toBe(101);
    expect(productInCents(3, 0.335)).toBe(101);
    expect(productInCents(1e-7, 5e4)).toBe(1);
    expect(productInCents(1, 1e21)).toBe(1e23);
    expect(taxInsideCents(70_000, 16)).toBe(9655);
  });

  test("add up without drift", () => {
    expect(addExactly(0.1, 0.2)).toBe(0.3);
    expect(addExactly(100, -0.7)).toBe(99.3);
  });

  test("hold their tax to the nearest cent", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 0, max: 100 }), (totalCents, ratePercent) => {
        const exact = (totalCents * ratePercent) / (100 + ratePercent);
        expect(Math.abs(taxInsideCents(totalCents, ratePercent) - exact)).toBeLessThanOrEqual(0.5 + 1e-6);
      }),
    );
  });
});
