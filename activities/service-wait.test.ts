import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { standingOf } from "./failure.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const middle = (): number => 0.5;

/** When the own tries of a call are due that is never taken, in minutes after the first one. */
function ownTries(throughMs: number): number[] {
  const tries: number[] = [];
  for (let triedAtMs = 0; ;) {
    triedAtMs += standingOf({ triedAtMs, sinceMs: 0 }, triedAtMs, middle).ownTurnInMs;
    if (triedAtMs > throughMs) return tries;
    tries.push(triedAtMs / MINUTE);
  }
}

describe("the wait for the service", () => {
  test("makes its first tries soon, and few in a week", () => {
    expect(ownTries(HOUR).slice(0, 5)).toEqual([1, 2, 3, 4.5, 6.75]);
    expect(ownTries(7 * 24 * HOUR).length).toBeLessThan(35);
  });

  test("goes on with a try every twelve hours, however long it lasts", () => {
    const triedAtMs = 90 * 24 * HOUR;
    expect(standingOf({ triedAtMs, sinceMs: 0 }, triedAtMs, middle).ownTurnInMs).toBe(12 * HOUR);
  });

  test("probes first after a minute, and later within half an hour", () => {
    expect(standingOf({ triedAtMs: 0, sinceMs: 0 }, MINUTE, middle).lookPauseMs).toBe(MINUTE);
    expect(standingOf({ triedAtMs: 0, sinceMs: 0 }, 5 * 24 * HOUR, middle).lookPauseMs).toBe(HOUR / 2);
  });

  test("never ends sooner than a minute after a try, and within half an hour once the key works", () => {
    const ms = fc.integer({ min: 0, max: 365 * 24 * HOUR });
    fc.assert(
      fc.property(ms, ms, ms, (a, b, c) => {
        const [sinceMs = 0, triedAtMs = 0, nowMs = 0] = [a, b, c].toSorted((x, y) => x - y);
        const { tooSoonForMs } = standingOf({ triedAtMs, sinceMs }, nowMs, middle);
        expect(tooSoonForMs).toBeLessThanOrEqual(HOUR / 2);
        expect(nowMs - triedAtMs >= MINUTE || tooSoonForMs > 0).toBe(true);
      }),
    );
  });
});
