import { describe, expect, test } from "vitest";

import type { BillPaymentsPage as Page } from "../../src/contract/index.ts";
import { afterComparison, afterPage, beginning, type Position } from "./bill-payments-position.ts";

const MINUTE_MS = 60_000;
const NOW_MS = 1_700_000_000_000;
const LISTS = 3;

const page = (more: Partial<Page> = {}): Page => ({
  kind: "page",
  rows: 100,
  added: 0,
  changed: 0,
  total: 250,
  hasNextPage: false,
  askedAtMs: NOW_MS,
  ...more,
});

const after = (position: Position, ...pages: Partial<Page>[]): Position =>
  pages.reduce((at, more) => afterPage(at, page(more), LISTS), position);
const at = ({ phase, round, list, page: number }: Position) => [phase, round, list, number];

describe("a full synchronisation of bill payments", () => {
  const start = after(beginning("full", {}), { newestUpdatedMs: NOW_MS });

  test("reads the newest change, then every list in a round, then each list by its latest changes", () => {
    expect(at(beginning("full", { knownUntilMs: 5, leftOut: [1] }))).toEqual(["ground", 0, 0, 1]);
    expect(at(start)).toEqual(["round", 1, 0, 1]);
    expect(at(after(start, { hasNextPage: true }))).toEqual(["round", 1, 0, 2]);
    expect(at(after(start, {}, {}))).toEqual(["round", 1, 2, 1]);
    expect(at(after(start, {}, {}, {}))).toEqual(["latest", 1, 0, 1]);
    expect(at(after(start, {}, {}, {}, {}, {}, {}))).toEqual(["compare", 1, 2, 1]);
  });

  test("keeps when its round began, and how far the list of all reached", () => {
    const pages = [
      { askedAtMs: 10, newestCreatedMs: 5, hasNextPage: true },
      { askedAtMs: 20, newestCreatedMs: 7 },
      { askedAtMs: 30, newestCreatedMs: 9 },
    ];
    expect(after(start, ...pages)).toMatchObject({ roundStartedAtMs: 10, reachMs: 7 });
  });

  test("counts the unreadable rows of each list per round, and remembers one without an id", () => {
    const pages = [{ leftOut: 1, hasNextPage: true }, { leftOut: 2 }, {}, { leftOut: 1, unidentified: true as const }];
    const round = after(start, ...pages);
    expect(round).toMatchObject({ leftOut: [3, 0, 1], unidentified: true });
    const compared = afterComparison(after(round, {}, {}, {}), "full", undefined);
    expect(compared).toMatchObject({ phase: "round", leftOut: [], unidentified: true });
  });

  test("reads what changed since it began, and a little below, and counts as the service does", () => {
    const latest = after(start, {}, {}, {});
    expect(latest.groundMs).toBe(NOW_MS - 10 * MINUTE_MS);
    const above = { hasNextPage: true, oldestUpdatedMs: NOW_MS - 10 * MINUTE_MS, newestUpdatedMs: NOW_MS + 5 };
    const below = { hasNextPage: true, oldestUpdatedMs: NOW_MS - 10 * MINUTE_MS - 1, total: 251 };
    expect(at(after(latest, above))).toEqual(["latest", 1, 0, 2]);
    const read = after(latest, above, below);
    expect(at(read)).toEqual(["latest", 1, 1, 1]);
    expect(read).toMatchObject({ topMs: NOW_MS + 5, totals: [251] });
  });

  test("keeps a list's count where its next page is gone by the time it is asked for", () => {
    const latest = after(start, {}, {}, {});
    const read = after(latest, { hasNextPage: true, total: 251 }, { total: undefined });
    expect(at(read)).toEqual(["latest", 1, 1, 1]);
    expect(read.totals).toEqual([251]);
  });

  test("repeats until its passes agree, a bounded number of times", () => {
    const compared: Position = { ...after(start, {}, {}, {}), phase: "compare", topMs: NOW_MS + MINUTE_MS };
    expect(afterComparison(compared, "full", 7)).toMatchObject({ phase: "complete", settled: true, wholeSinceMs: 7 });
    const again = afterComparison(compared, "full", undefined);
    expect(again).toMatchObject({ phase: "round", round: 2, list: 0, page: 1, groundMs: NOW_MS - 9 * MINUTE_MS });
    expect(again.roundStartedAtMs).toBeUndefined();
    const last = afterComparison({ ...compared, round: 6 }, "full", undefined);
    expect(last).toMatchObject({ phase: "complete", settled: false });
  });
});

describe("a recent synchronisation of bill payments", () => {
  test("begins at the latest changes, and never becomes a full one by itself", () => {
    const start = beginning("recent", { knownUntilMs: NOW_MS, leftOut: [1, 0, 1] });
    expect(start).toMatchObject({ phase: "latest", groundMs: NOW_MS - 10 * MINUTE_MS, leftOut: [1, 0, 1] });
    const compared: Position = { ...start, phase: "compare" };
    expect(afterComparison(compared, "recent", undefined)).toMatchObject({ phase: "complete", settled: false });
  });
});
