import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { ageMs, pollPauseMs } from "./failure.ts";
import { inActivity, START_MS } from "./test-support/served.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const bounds = { firstPollMs: 5_000, longestPollMs: 10 * MINUTE_MS, longestPollAfterDayMs: 4 * HOUR_MS };
const even = () => 0.5;

const age = fc.integer({ min: -HOUR_MS, max: 400 * DAY_MS });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("the pause before the next look", () => {
  test.each([
    ["at once", 0, 5_000],
    ["after half a minute", 30_000, 5_000],
    ["after a minute", MINUTE_MS, 10_000],
    ["after half an hour", 30 * MINUTE_MS, 5 * MINUTE_MS],
    ["after an hour", HOUR_MS, 10 * MINUTE_MS],
    ["after twelve hours", 12 * HOUR_MS, 10 * MINUTE_MS],
    ["after a day", DAY_MS, HOUR_MS],
    ["after three days", 3 * DAY_MS, 3 * HOUR_MS],
    ["after a month", 30 * DAY_MS, 4 * HOUR_MS],
  ])("%s follows the schedule", (_when, ageInMs, pauseMs) => {
    expect(pollPauseMs(ageInMs, bounds, even)).toBe(pauseMs);
  });

  test("is the first one where the clock says that the wait has not begun", () => {
    expect(pollPauseMs(-MINUTE_MS, bounds, even)).toBe(5_000);
  });

  test("stays within its bounds, give or take the jitter of a tenth", () => {
    fc.assert(
      fc.property(age, chance, (ageInMs, roll) => {
        const pauseMs = pollPauseMs(ageInMs, bounds, () => roll);
        const longestMs = ageInMs < DAY_MS ? bounds.longestPollMs : bounds.longestPollAfterDayMs;
        expect(Number.isInteger(pauseMs)).toBe(true);
        expect(pauseMs).toBeGreaterThanOrEqual(bounds.firstPollMs * 0.9);
        expect(pauseMs).toBeLessThanOrEqual(longestMs * 1.1);
      }),
    );
  });

  test("never shrinks with the age, for the same chance", () => {
    fc.assert(
      fc.property(age, age, chance, (a, b, roll) => {
        const [younger, older] = [Math.min(a, b), Math.max(a, b)];
        const pause = (ageInMs: number) => pollPauseMs(ageInMs, bounds, () => roll);
        expect(pause(older)).toBeGreaterThanOrEqual(pause(younger));
      }),
    );
  });

  test("spreads by a tenth what began together", () => {
    expect(pollPauseMs(HOUR_MS, bounds, () => 0)).toBe(9 * MINUTE_MS);
    expect(pollPauseMs(HOUR_MS, bounds, () => 1)).toBe(11 * MINUTE_MS);
  });

  test("costs a document that waits for a week fewer than three hundred looks", () => {
    let looks = 0;
    for (let ageInMs = 0; ageInMs < 7 * DAY_MS; looks++) ageInMs += pollPauseMs(ageInMs, bounds, even);
    expect(looks).toBeLessThan(300);
  });
});

test("the age of a wait is measured by the clock of the Temporal server", async () => {
  expect(await inActivity(async () => ageMs(START_MS - 7_000))).toBe(7_000);
});
