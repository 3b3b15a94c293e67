import fc from "fast-check";
import { expect, test } from "vitest";

import { sinceBefore } from "./between-tries.ts";
import { growingPauseMs } from "../proxies.ts";

test("the pauses between tries double from a second to ten minutes", () => {
  const pauses = Array.from({ length: 12 }, (_, tries) => growingPauseMs(tries) / 1_000);
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
});

test("a pause between tries stays within its bounds and never shrinks", () => {
  const tries = fc.nat({ max: 1_000_000 });
  fc.assert(
    fc.property(tries, tries, (a, b) => {
      const [fewer, more] = [growingPauseMs(Math.min(a, b)), growingPauseMs(Math.max(a, b))];
      expect(fewer).toBeGreaterThanOrEqual(1_000);
      expect(more).toBeGreaterThanOrEqual(fewer);
      expect(more).toBeLessThanOrEqual(600_000);
    }),
  );
});

test("trouble that a worker does not know the beginning of began when its call met the same trouble before", () => {
  const before = { kind: "rate-limited", sinceMs: 100 } as const;
  const now = { kind: "rate-limited", sinceMs: 200 } as const;
  const unknown = { ...now, orEarlier: true } as const;
  expect(sinceBefore(unknown, before)).toBe(before);
  expect(sinceBefore(now, before)).toBe(now);
  expect(sinceBefore(unknown, { ...before, kind: "away" })).toBe(unknown);
  expect(sinceBefore(unknown, undefined)).toBe(unknown);
  expect(sinceBefore(undefined, before)).toBeUndefined();
});
