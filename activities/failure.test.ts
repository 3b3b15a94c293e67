import fc from "fast-check";
import { ApplicationFailureCategory, CancelledFailure } from "@temporalio/common";
import { describe, expect, test } from "vitest";

import { STILL_WAITING } from "../src/contract/index.ts";
import { LedgerUnavailableError } from "../src/ledger/index.ts";
import { budgetRules } from "../src/quota/index.ts";
import { afterQuotaMs, asRetryable, backoffMs, retryAfter } from "./failure.ts";
import { inActivity, START_MS } from "./test-support/served.ts";

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const attempt = fc.integer({ min: 1, max: 1_000_000 });

describe("the pause after a failed attempt", () => {
  test("is from one second to a minute, for any attempt and any chance", () => {
    fc.assert(
      fc.property(attempt, chance, (which, roll) => {
        const pauseMs = backoffMs(which, () => roll);
        expect(Number.isInteger(pauseMs)).toBe(true);
        expect(pauseMs).toBeGreaterThanOrEqual(1_000);
        expect(pauseMs).toBeLessThanOrEqual(60_000);
      }),
    );
  });

  test("has a ceiling that doubles until it is a minute", () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 7].map((which) => backoffMs(which, () => 1));
    expect(ceilings).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  test("never shrinks with the attempts, for the same chance", () => {
    fc.assert(
      fc.property(attempt, attempt, chance, (a, b, roll) => {
        const [fewer, more] = [Math.min(a, b), Math.max(a, b)];
        expect(backoffMs(more, () => roll)).toBeGreaterThanOrEqual(backoffMs(fewer, () => roll));
      }),
    );
  });

  test("is fully jittered: it spreads over the whole way to its ceiling", () => {
    expect([0, 0.25, 0.5, 0.75, 1].map((roll) => backoffMs(5, () => roll))).toEqual([
      1_000, 8_750, 16_500, 24_250, 32_000,
    ]);
  });
});

describe("the pause after a refusal by the quota", () => {
  test("is never shorter than Retry-After, and at most two seconds longer", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600_000 }), chance, (retryAfterMs, roll) => {
        const pauseMs = afterQuotaMs(retryAfterMs, () => roll);
        expect(pauseMs).toBeGreaterThanOrEqual(retryAfterMs);
        expect(pauseMs).toBeLessThanOrEqual(retryAfterMs + 2_000);
      }),
    );
  });

  test("is no longer than the budget is closed, whatever Retry-After asks for", () => {
    for (const retryAfterMs of [600_001, 86_400_000]) {
      expect(afterQuotaMs(retryAfterMs, () => 0)).toBe(budgetRules(120).longestClosedMs);
      expect(afterQuotaMs(retryAfterMs, () => 0.999)).toBeLessThanOrEqual(602_000);
    }
  });

  test("is a whole window where the refusal does not say how long", () => {
    expect(afterQuotaMs(undefined, () => 0)).toBe(60_000);
  });
});

describe("a failure", () => {
  test.each([
    ["Deferred", "BENIGN"],
    [STILL_WAITING, "BENIGN"],
    ["Transient", undefined],
    ["NotSent", undefined],
    ["UnknownKeyed", undefined],
    ["NotServed", undefined],
  ] as const)("of type %s is tried again after its pause", (type, category) => {
    expect(retryAfter(type, "what happened", 4_321)).toMatchObject({
      type,
      message: expect.stringMatching(
        type === STILL_WAITING ? /^Still waiting; .*look\. what happened$/ : /^what happened$/,
      ),
      nonRetryable: false,
      nextRetryDelay: 4_321,
      category: category && ApplicationFailureCategory[category],
    });
  });
});

test("a failure leads with the service's trouble, in its message and its details", async () => {
  const trouble = { kind: "away", sinceMs: START_MS, orEarlier: true } as const;
  const failure = await inActivity(
    () => Promise.resolve(retryAfter("Transient", "getSale: HTTP 503", 4_321, trouble)),
    {
      attempt: 7,
    },
  );
  expect(failure).toMatchObject({
    message:
      "The API has been away at least since 2026-11-21 12:00 EAT: attempt 7, the next after 5 s. getSale: HTTP 503",
    details: [{ trouble, said: "getSale: HTTP 503" }],
  });
});

test("an outage of the ledger that an activity lets through is tried again under its own name", () => {
  const failure = asRetryable(new LedgerUnavailableError("no database"), 3, () => 0.5);
  expect(failure).toMatchObject({ type: "LedgerAway", message: "no database", nextRetryDelay: 4_500 });
});

describe("an unexpected error", () => {
  test("is tried again after a pause of its own, with its name and its stack", () => {
    const error = new TypeError("of undefined");
    const failure = asRetryable(error, 3, () => 0.5);
    expect(failure).toMatchObject({ type: "TypeError", message: "of undefined", nextRetryDelay: 4_500 });
    expect(failure).toMatchObject({ stack: error.stack, nonRetryable: false });
  });

  test.each([
    ["a failure that has a meaning", retryAfter("Transient", "away", 1_000)],
    ["a cancellation", new CancelledFailure("ended")],
    ["a request that a cancellation has ended", Object.assign(new Error("aborted"), { name: "AbortError" })],
  ])("is not %s", (_what, error) => {
    expect(asRetryable(error, 1, () => 0.5)).toBe(error);
  });
});
