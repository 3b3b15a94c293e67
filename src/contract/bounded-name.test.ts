import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { boundedName, sha256Hex } from "./ids.ts";

const MAX = 100;

describe("a bounded name", () => {
  test("is the name itself where it fits", () => {
    expect(boundedName("x".repeat(MAX), MAX)).toBe("x".repeat(MAX));
  });

  test("that is one character too long keeps a readable prefix and ends in the digest of the whole", () => {
    const name = `INV-1/${"x".repeat(MAX - 5)}`;
    const bounded = boundedName(name, MAX);
    expect(bounded).toHaveLength(MAX);
    expect(bounded).toBe(`${name.slice(0, MAX - 65)}~${sha256Hex(name)}`);
  });

  test.each([1, 2, 3])("is not cut through a percent escape (%i characters into it)", (offset) => {
    const name = `${"x".repeat(MAX - 65 - offset)}%F0%9F${"y".repeat(MAX)}`;
    const prefix = boundedName(name, MAX).split("~")[0] ?? "";
    expect(prefix).toMatch(/^x+(%[0-9A-F]{2})*$/);
  });

  test("keeps two long names apart that differ only at their end", () => {
    const long = "x".repeat(300);
    expect(boundedName(`${long}1`, MAX)).not.toBe(boundedName(`${long}2`, MAX));
  });

  test("of a name that is written like the bounded name of another is another", () => {
    const bounded = boundedName("x".repeat(300), MAX);
    expect(boundedName(bounded, MAX)).not.toBe(bounded);
    expect(boundedName(bounded, MAX).length).toBeLessThanOrEqual(MAX);
  });

  test("is never longer than its bound, and distinct for distinct names", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b", "%", "2", "F", "~"), maxLength: 250 });
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(boundedName(a, MAX).length).toBeLessThanOrEqual(MAX);
        expect(boundedName(a, MAX) === boundedName(b, MAX)).toBe(a === b);
      }),
    );
  });
});
