import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { durationMs } from "./parse-input.ts";

const HOUR_MS = 3_600_000;

describe("a duration", () => {
  test.each([
    ["0", 0],
    [" 0 ", 0],
    ["0 hours", 0],
    ["90m", 90 * 60_000],
    ["24 hours", 24 * HOUR_MS],
    ["1.5 hours", 1.5 * HOUR_MS],
    ["7 days", 7 * 24 * HOUR_MS],
    ["250 ms", 250],
    ["1.2345 s", 1235],
  ])("%j is %d ms", (text, durationInMs) => {
    expect(durationMs(text)).toBe(durationInMs);
  });

  test.each([
    "",
    " ",
    "soon",
    "5",
    "0.5",
    "-5",
    "-0",
    "-1 hour",
    "1 fortnight",
    "1 hour 30 minutes",
    "11 years",
    "1e3 s",
  ])("%j is none", (text) => {
    expect(durationMs(text)).toBeUndefined();
  });

  test("is none, or a whole number of milliseconds from none to ten years, for any text", () => {
    const written = fc
      .tuple(fc.double({ noNaN: true }), fc.constantFrom("ms", "s", " minutes", "h", " days", "y", "", " moons"))
      .map(([amount, unit]) => `${amount}${unit}`);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), written), (text) => {
        const parsed = durationMs(text);
        if (parsed === undefined) return;
        expect(Number.isInteger(parsed)).toBe(true);
        expect(parsed).toBeGreaterThanOrEqual(0);
        expect(parsed).toBeLessThanOrEqual(10 * 365 * 24 * HOUR_MS);
      }),
    );
  });
});
