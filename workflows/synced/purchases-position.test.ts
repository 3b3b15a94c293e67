import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { PurchasesSyncKind } from "../../src/contract/index.ts";
import {
  afterPage,
  afterPasses,
  afterPull,
  atWindows,
  BEGINNING,
  OVERLAP,
  type Position,
  restarted,
} from "./purchases-position.ts";

const listing = afterPull(BEGINNING);

function page(rows: number, knownAtEnd: number, nextCursor: string | null = "next") {
  return { kind: "page" as const, rows, added: 0, changed: 0, knownAtEnd, nextCursor };
}

/** The steps of a synchronisation all of whose pages are the last ones. */
function stepsOf(kind: PurchasesSyncKind): string[] {
  const steps: string[] = [];
  for (let position: Position = listing; ; position = afterPage(position, kind, page(10, 0, null))) {
    steps.push(position.step);
    if (position.step === "complete") return steps;
  }
}

describe("a synchronisation of purchases", () => {
  test.each([
    ["recent", ["list", "pulled", "pending_review", "changed", "complete"]],
    ["full", ["list", "pulled", "pending_review", "complete"]],
    ["window", ["list", "complete"]],
  ] as const)("that is %s reads in the order %j", (kind, steps) => {
    expect(stepsOf(kind)).toEqual(steps);
  });

  test("goes on with the cursor that the page named", () => {
    expect(afterPage(listing, "full", page(100, 100, "c2"))).toMatchObject({ step: "list", cursor: "c2" });
  });

  test("begins each pass without a cursor and on no known ground", () => {
    const before = { ...listing, cursor: "c7", knownInARow: 150 };
    const after = afterPage(before, "recent", page(100, 100));
    expect(after).toEqual({ ...listing, step: "pulled", knownInARow: 0 });
  });
});

describe("the days of changed invoices", () => {
  const [first, second] = [
    { from: "2026-11-01", to: "2026-11-01" },
    { from: "2026-11-05", to: "2026-11-05" },
  ];
  const changed: Position = { ...listing, step: "changed" };

  test("are read one after the other, each from its beginning", () => {
    const at = atWindows(changed, [first, second]);
    expect(at).toMatchObject({ step: "changed", windows: [first, second] });
    const within = afterPage(at, "recent", page(100, 100, "c2"));
    expect(within).toMatchObject({ cursor: "c2", windows: [first, second] });
    const next = afterPage(within, "recent", page(10, 10, null));
    expect(next).toEqual({ ...changed, windows: [second] });
    expect(afterPage(next, "recent", page(1, 1, null))).toEqual({ ...changed, step: "complete" });
  });

  test("may be empty", () => {
    expect(atWindows(changed, [])).toMatchObject({ step: "complete" });
  });
});

describe("the known range of purchases", () => {
  test("is reached by enough consecutive known rows, over pages", () => {
    const first = afterPage(listing, "recent", page(100, 60));
    expect(first).toMatchObject({ step: "list", knownInARow: 60 });
    const second = afterPage(first, "recent", page(100, 100));
    expect(second).toMatchObject({ step: "list", knownInARow: 160 });
    expect(afterPage(second, "recent", page(100, 100))).toMatchObject({ step: "pulled" });
  });

  test("is left by one unknown row", () => {
    const before = { ...listing, knownInARow: OVERLAP - 1 };
    expect(afterPage(before, "recent", page(100, 99))).toMatchObject({ step: "list", knownInARow: 99 });
  });

  test("does not end a full synchronisation, a window, or a pass of a status", () => {
    const known = page(1_000, 1_000);
    expect(afterPage(listing, "full", known).step).toBe("list");
    expect(afterPage(listing, "window", known).step).toBe("list");
    expect(afterPage({ ...listing, step: "pulled" }, "recent", known).step).toBe("pulled");
  });

  test("is never reached while a page brings something new, whatever pages come", () => {
    const pages = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(pages, (sizes) => {
        let position = listing;
        // Each page ends with one new row.
        for (const rows of sizes) position = afterPage(position, "recent", page(rows, 0));
        expect(position.step).toBe("list");
      }),
    );
  });
});

describe("a full synchronisation of purchases", () => {
  const through: Position = { ...listing, step: "complete" };

  test("reads the list again where rows moved meanwhile, a bounded number of times", () => {
    const again = afterPasses(through, 3);
    expect(again).toMatchObject({ step: "list", sweeps: 2, knownInARow: 0 });
    expect(afterPasses({ ...through, sweeps: 3 }, 3)).toMatchObject({ step: "complete" });
  });

  test("is complete where every row was seen", () => {
    expect(afterPasses(through, 0)).toBe(through);
  });
});

test("a purchase without a readable id is remembered to the end of the synchronisation", () => {
  let position = afterPage(listing, "full", { ...page(3, 0, null), unidentified: true });
  while (position.step !== "complete") position = afterPage(position, "full", page(1, 0, null));
  expect(position).toMatchObject({ unidentified: true });
});

test("a page of purchases is recognised by its rows until its pass is over", () => {
  const within = afterPage(listing, "full", { ...page(100, 0, "c2"), fingerprint: "f1" });
  expect(within).toMatchObject({ fingerprint: "f1" });
  expect(afterPage(within, "full", { ...page(10, 0, null), fingerprint: "f2" })).not.toHaveProperty("fingerprint");
  expect(restarted(within)).not.toHaveProperty("fingerprint");
});

test("a refused cursor restarts its pass, and is counted", () => {
  const before: Position = { ...listing, step: "pulled", cursor: "c3", knownInARow: 12 };
  expect(restarted(before)).toEqual({ step: "pulled", knownInARow: 0, sweeps: 1, restarts: 1 });
});
