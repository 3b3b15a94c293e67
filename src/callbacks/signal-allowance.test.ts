import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSignalAllowance } from "./signal-allowance.ts";

describe("a workflow's allowance of callbacks", () => {
  it("passes a burst, then one more after each refill, and says how long to wait", () => {
    const take = createSignalAllowance({ burst: 3, refillMs: 1_000 });
    expect([0, 0, 0, 0].map((nowMs) => take("a", nowMs))).toEqual([0, 0, 0, 1_000]);
    expect(take("a", 400)).toBe(600);
    expect(take("a", 1_000)).toBe(0);
    expect(take("a", 1_000)).toBe(1_000);
    expect(take("b", 1_000)).toBe(0);
  });

  it("never passes more than the burst and what was refilled, whenever callbacks come", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { maxLength: 200 }), (gapsMs) => {
        const take = createSignalAllowance({ burst: 5, refillMs: 1_000 });
        let nowMs = 0;
        let passed = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          if (take("a", nowMs) === 0) passed += 1;
          expect(passed).toBeLessThanOrEqual(5 + Math.floor(nowMs / 1_000));
        }
      }),
    );
  });

  it("forgets the workflow whose last callback is oldest, so that its memory is bounded", () => {
    const take = createSignalAllowance({ burst: 1, refillMs: 1_000, remembered: 2 });
    take("a", 0);
    take("b", 0);
    take("c", 0);
    expect(take("b", 0)).toBe(1_000);
    expect(take("c", 0)).toBe(1_000);
    expect(take("a", 0)).toBe(0);
  });
});
