import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWebhookAllowance } from "./webhooks.ts";

describe("a connection's allowance of webhooks", () => {
  it("passes a burst, then one more after each refill, and says how long to wait", () => {
    const take = createWebhookAllowance({ burst: 3, refillMs: 1_000 });
    expect([0, 0, 0, 0].map((nowMs) => take("a", nowMs))).toEqual([0, 0, 0, 1_000]);
    expect(take("a", 400)).toBe(600);
    expect(take("a", 1_000)).toBe(0);
    expect(take("a", 1_000)).toBe(1_000);
    expect(take("b", 1_000)).toBe(0);
  });

  it("never passes more than the burst and what was refilled, whenever webhooks come", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { maxLength: 200 }), (gapsMs) => {
        const take = createWebhookAllowance({ burst: 5, refillMs: 1_000 });
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
});
