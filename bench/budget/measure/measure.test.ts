import { describe, expect, test } from "vitest";

import type { CallEntry } from "../../../src/dev/simulator/index.ts";
import { againstEqualShares } from "./equal-shares.ts";
import { quantile } from "./statistics.ts";
import { type Wait, waitsOf } from "./waits.ts";
import { countWindows } from "./windows.ts";

function call(saleId: string, atMs: number, status: number | null = 200): CallEntry {
  return {
    atMs,
    status,
    saleId,
    operation: "readSale",
    method: "GET",
    path: "",
    query: {},
    signed: false,
    replayed: false,
    application: null,
    businessId: null,
    invoice: null,
    itemId: null,
    referenceId: null,
    idempotencyKey: null,
    fault: null,
  };
}

describe("the windows of one measured queue", () => {
  test("take their calls in the order of arrival, however late the log puts them", () => {
    const calls = [
      call("lane~interactive~shop~1", 990),
      call("other~interactive~shop~2", 991),
      call("lane~stranger~shop~3", 992),
      call("lane~background~shop~4", 999, 429),
      call("lane~interactive~shop~1", 999),
    ];
    const windows = [
      { application: "lane", startMs: 0, used: 2, refused: 1 },
      { application: "other", startMs: 0, used: 1, refused: 0 },
      { application: "lane", startMs: 1_000, used: 1, refused: 0 },
    ];
    expect(countWindows("lane", calls, windows)).toEqual([
      { startMs: 0, interactive: 1, background: 0, stranger: 1, refused: 1, strangerRefused: 0 },
      { startMs: 1_000, interactive: 1, background: 0, stranger: 0, refused: 0, strangerRefused: 0 },
    ]);
  });
});

describe("the wait of a measured call", () => {
  const job = { saleId: "job", businessId: "shop", startedMs: 100 };

  test("ends with the first try that was not refused", () => {
    const calls = [call("job", 150, 429), call("job", 400), call("job", 500)];
    expect(waitsOf([job], calls, 1_000)).toEqual([{ ...job, waitedMs: 300, served: true }]);
  });

  test("lasts until the end for a job that was never served", () => {
    expect(waitsOf([job], [call("job", 150, 429), call("job", 160, null)], 1_000)).toEqual([
      { ...job, waitedMs: 900, served: false },
    ]);
  });
});

describe("equal shares", () => {
  const wait = (businessId: string, startedMs: number, waitedMs: number): Wait => {
    return { saleId: `${businessId}-${startedMs}`, businessId, startedMs, waitedMs, served: true };
  };
  const servedMs = [10, 20, 30, 40, 50, 60];
  const all = (): boolean => true;

  test("hold where a small business gets a turn after each of a big one's", () => {
    const waits = [wait("small-1", 5, 15), wait("small-2", 5, 25)];
    expect([...againstEqualShares(waits, "big", servedMs, 100, all).values()]).toEqual([1, 1]);
  });

  test("are violated where a small business waits behind a big one's backlog", () => {
    const waits = [wait("small-1", 5, 55)];
    expect(againstEqualShares(waits, "big", servedMs, 100, all).get("small-1")).toBeCloseTo(55 / 15);
  });

  test("let a business wait behind its own earlier jobs", () => {
    const waits = [wait("small-1", 5, 15), wait("small-1", 6, 34)];
    expect(againstEqualShares(waits, "big", servedMs, 100, all).get("small-1")).toBeCloseTo(1);
  });
});

test("a quantile is a value that was measured", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2);
  expect(quantile([4, 1, 3, 2], 0.95)).toBe(4);
  expect(quantile([], 0.95)).toBe(0);
});
