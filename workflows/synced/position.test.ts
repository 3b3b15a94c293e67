import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { CountedSync, KeptPageResult } from "../../src/contract/index.ts";
import {
  afterPage,
  completionOf,
  isDueAgain,
  type Lists,
  type Position,
  restarted,
  sweep,
  wholeSince,
} from "./position.ts";

const LISTS: Lists = {
  whole: [{}, { status: "pending" }],
  latest: (knownUntilMs) => [{ knownUntilMs }, { status: "pending", knownUntilMs }],
};
const NOTHING: Position = {
  reads: "whole",
  passes: [],
  restarts: 0,
  startedAtMs: 100,
  sweeps: 0,
  sweptFromMs: [],
  totals: {},
  leftOut: {},
};

const page = (more: Partial<KeptPageResult> = {}): KeptPageResult => ({
  kind: "page",
  rows: 100,
  added: 0,
  changed: 0,
  known: false,
  nextCursor: null,
  askedAtMs: 100,
  ...more,
});
const after = (position: Position, ...pages: Partial<KeptPageResult>[]): Position =>
  pages.reduce((at, more) => afterPage(at, page(more)), position);

const first = sweep(NOTHING, LISTS);
const latest: Position = { ...first, reads: "latest", passes: LISTS.latest(5) };

describe("a sweep", () => {
  test("reads each list from its beginning to its end, past known ground", () => {
    expect(after(first, { nextCursor: "c2", known: true })).toMatchObject({ passes: LISTS.whole, cursor: "c2" });
    const second = after(first, { nextCursor: "c2" }, {});
    expect(second.passes).toEqual([{ status: "pending" }]);
    expect(second.cursor).toBeUndefined();
    expect(after(second, {}).passes).toEqual([]);
  });

  test("keeps when it began, what the lists count, and how many rows of each could not be read", () => {
    const read = after(
      first,
      { askedAtMs: 110, total: 7, leftOut: 1, nextCursor: "c2" },
      { askedAtMs: 120, total: 8, leftOut: 2 },
      { askedAtMs: 130, total: 3, unidentified: true },
    );
    expect(read).toMatchObject({
      sweptFromMs: [110],
      knownUntilMs: 130,
      totals: { all: 8, pending: 3 },
      leftOut: { all: 3, pending: 0 },
      unidentified: true,
    });
    const again = after(sweep(read, LISTS), { askedAtMs: 140 });
    expect(again).toMatchObject({ sweeps: 2, sweptFromMs: [110, 140], totals: {}, leftOut: { all: 0 } });
    expect(again.unidentified).toBe(true);
  });

  test("keeps a list's count where its next page is gone by the time it is asked for", () => {
    expect(after(first, { total: 101, nextCursor: "2" }, { rows: 0 }).totals).toEqual({ all: 101 });
  });

  test("begins its pass anew where its cursor is refused", () => {
    const within = after(first, { nextCursor: "c2" });
    expect(restarted(within, 1)).toMatchObject({ passes: LISTS.whole, cursor: undefined, restarts: 1 });
  });
});

describe("what has changed last", () => {
  test("is read until a page of known ground alone, and counts what it leaves out apart from the lists", () => {
    expect(after(latest, { nextCursor: "c2" })).toMatchObject({ cursor: "c2", leftOut: {} });
    expect(after(latest, { nextCursor: "c2", leftOut: 1 })).toMatchObject({ cursor: "c2", leftOut: { latest: 1 } });
    expect(after(latest, { nextCursor: "c2" }, { nextCursor: "c3", known: true }).passes).toHaveLength(1);
  });

  test("is read on while a page brings something new, whatever pages come", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(sizes, (all) => {
        const read = after(latest, ...all.map((rows) => ({ rows, nextCursor: "next" })));
        expect(read.passes).toHaveLength(2);
      }),
    );
  });
});

describe("known ground", () => {
  const ofPurchases = (position: Position): Position => ({
    ...position,
    reads: "latest",
    passes: [{ knownUntilMs: 5 }, { status: "pulled" }],
  });

  test("ends with the last page of the list of all: rows that another list shows may hide older ones", () => {
    const read = after(ofPurchases(first), { askedAtMs: 110, nextCursor: "c2" }, { askedAtMs: 120, known: true });
    const ended = after({ ...after(read, { askedAtMs: 130 }), reads: "rest", passes: [{ from: "2026-01-01" }] }, {});
    expect(after(ended, { askedAtMs: 140 })).toMatchObject({ passes: [], knownUntilMs: 120 });
  });

  test("ends with the last page of the whole list, until the latest is read once more", () => {
    const swept = after(sweep(NOTHING, { ...LISTS, whole: [{}] }), { askedAtMs: 110 });
    expect(swept.knownUntilMs).toBe(110);
    expect(after(ofPurchases(swept), { askedAtMs: 120 }, { askedAtMs: 130 }).knownUntilMs).toBe(120);
  });
});

describe("whether everything was seen", () => {
  const counted = (total: number, unseen = 0, pending = 1): CountedSync => ({
    total,
    byStatus: { pending, none: total - pending },
    unseen,
  });
  const read = (sweeps: number, more: Partial<Position> = {}): Position => ({
    ...NOTHING,
    sweeps,
    sweptFromMs: [100, 200, 300].slice(0, sweeps),
    totals: { all: 10, pending: 1 },
    ...more,
  });
  const since = (position: Position, answers: Record<number, CountedSync>, kind: "full" | "recent" = "full") =>
    wholeSince(position, kind, (sinceMs) => Promise.resolve(answers[sinceMs] ?? counted(0)));

  test("is so where the service counts what was seen, without what could not be read", async () => {
    expect(await since(read(1), { 100: counted(10) })).toBe(100);
    expect(await since(read(1), { 100: counted(9) })).toBeUndefined();
    expect(await since(read(1, { leftOut: { all: 1 } }), { 100: counted(9) })).toBe(100);
    expect(await since(read(1), { 100: counted(10, 0, 2) })).toBeUndefined();
  });

  test("is not so after a single sweep that has not seen a row, although the counts agree", async () => {
    // One that was removed after it was seen has moved one that stands past the reader.
    expect(await since(read(1), { 100: counted(10, 1) })).toBeUndefined();
    expect(await since(read(2), { 100: counted(10, 1) })).toBe(100);
  });

  test("is judged by the last two sweeps, or by all of them", async () => {
    expect(await since(read(3), { 100: counted(11), 200: counted(10, 1) })).toBe(200);
    expect(await since(read(3), { 100: counted(10), 200: counted(9, 1) })).toBe(100);
  });

  test("is judged without counts by two sweeps that have not seen a row", async () => {
    const without = { totals: {} };
    expect(await since(read(1, without), { 100: counted(3, 1) })).toBeUndefined();
    expect(await since(read(1, without), { 100: counted(3) })).toBe(100);
    expect(await since(read(2, without), { 100: counted(3, 1) })).toBe(100);
  });

  test("is, after what changed last, that the ledger holds as many as the service counts", async () => {
    const recent = read(0);
    expect(await since(recent, { 0: counted(10) }, "recent")).toBe(0);
    expect(await since(recent, { 0: counted(11) }, "recent")).toBeUndefined();
  });

  test("is not so where a full one found a row without an id that can be read: nothing is gone then", () => {
    const ended = { knownUntilMs: 90, leftOut: { all: 1 } };
    const unidentified = read(1, { ...ended, unidentified: true });
    expect(completionOf(unidentified, "full", 100)).toEqual({ ...ended, settled: false });
    expect(completionOf(read(1, ended), "full", 100)).toEqual({ ...ended, settled: true, goneBeforeMs: 100 });
    expect(completionOf(unidentified, "recent", 0)).toEqual({ ...ended, settled: true });
  });

  test("has the lists read again, a bounded number of times, and only by a full synchronisation", () => {
    expect(isDueAgain(read(1), "full", undefined)).toBe(true);
    expect(isDueAgain(read(1), "full", 100)).toBe(false);
    expect(isDueAgain({ ...read(1), sweeps: 6 }, "full", undefined)).toBe(false);
    expect(isDueAgain(read(0), "recent", undefined)).toBe(false);
  });
});
