import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHttpDateMs, parseRateLimit, parseRetryAfterSeconds } from "./quota-headers.ts";

const limits = { "x-ratelimit-limit": "120", "x-ratelimit-remaining": "7", "x-ratelimit-reset": "42" };

describe("parseRateLimit", () => {
  test("reads the three headers of the document", () => {
    expect(parseRateLimit(limits)).toEqual({ limit: 120, remaining: 7, resetSeconds: 42 });
  });

  test("reads back every valid set of values", () => {
    const count = fc.nat({ max: 1_000_000 });
    fc.assert(
      fc.property(count, count, fc.nat({ max: 86_400 }), (limit, remaining, resetSeconds) => {
        const headers = {
          "x-ratelimit-limit": ` ${limit}`,
          "x-ratelimit-remaining": String(remaining),
          "x-ratelimit-reset": `${resetSeconds} `,
        };
        expect(parseRateLimit(headers)).toEqual({ limit, remaining, resetSeconds });
      }),
    );
  });

  test.each(["-1", "NaN", "1.5", "", "1e3", "0x10", "86401", "1767225600", "120, 120", "Infinity"])(
    "a reset of %j counts as absent, and with it the rest",
    (reset) => {
      expect(parseRateLimit({ ...limits, "x-ratelimit-reset": reset })).toBeUndefined();
    },
  );

  test("no text makes it throw or give a value out of range", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (limit, remaining, reset) => {
        const parsed = parseRateLimit({
          "x-ratelimit-limit": limit,
          "x-ratelimit-remaining": remaining,
          "x-ratelimit-reset": reset,
        });
        if (parsed === undefined) return;
        for (const value of Object.values(parsed)) expect(Number.isSafeInteger(value) && value >= 0).toBe(true);
        expect(parsed.resetSeconds).toBeLessThanOrEqual(86_400);
      }),
    );
  });
});

describe("parseRetryAfterSeconds", () => {
  const nowMs = Date.parse("2026-11-21T09:00:00Z");

  test("reads whole seconds up to a day", () => {
    fc.assert(
      fc.property(fc.nat({ max: 86_400 }), (seconds) => {
        expect(parseRetryAfterSeconds({ "retry-after": String(seconds) }, nowMs)).toBe(seconds);
      }),
    );
  });

  test("reads an HTTP date against the given clock, rounded up", () => {
    fc.assert(
      fc.property(fc.integer({ min: -86_400, max: 86_400 }), fc.nat({ max: 999 }), (seconds, ms) => {
        const date = new Date(nowMs + seconds * 1000).toUTCString();
        expect(parseRetryAfterSeconds({ "retry-after": date }, nowMs - ms)).toBe(
          Math.min(86_400, Math.max(0, Math.ceil(seconds + ms / 1000))),
        );
      }),
    );
  });

  test.each(["86401", "259200", "Sat, 21 Nov 2099 09:00:00 GMT"])("%j, more than a day, is a day", (value) => {
    expect(parseRetryAfterSeconds({ "retry-after": value }, nowMs)).toBe(86_400);
  });

  test.each(["-5", "soon", "2026-11-21", "1.5", ""])("%j counts as absent", (value) => {
    expect(parseRetryAfterSeconds({ "retry-after": value }, nowMs)).toBeUndefined();
  });

  test("no text makes it throw or give a value out of range", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const seconds = parseRetryAfterSeconds({ "retry-after": value }, nowMs) ?? 0;
        expect(seconds >= 0 && seconds <= 86_400).toBe(true);
      }),
    );
  });
});

test("an HTTP date is read only in the form that RFC 9110 prefers", () => {
  expect(parseHttpDateMs("Sat, 21 Nov 2026 09:00:00 GMT")).toBe(Date.parse("2026-11-21T09:00:00Z"));
  expect(parseHttpDateMs("Saturday, 21-Nov-26 09:00:00 GMT")).toBeUndefined();
  expect(parseHttpDateMs("Sat, 99 Nov 2026 09:00:00 GMT")).toBeUndefined();
});
