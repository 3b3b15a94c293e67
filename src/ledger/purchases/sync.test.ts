import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import {
  businessWithPurchases,
  purchaseOf as purchase,
  PURCHASES_WRITER as WRITER,
} from "../test-support/purchases.ts";

const test = ledgerOfSuite();

const business = () => businessWithPurchases(test.ledger);

describe("the known range of a purchase list", () => {
  it("is what a completed synchronisation has listed", async () => {
    const { keep, sync } = business();
    const list = [purchase("p1"), purchase("p2"), purchase("p3")];
    const first = sync("recent");
    await test.ledger.purchases.begin(first);
    await keep(list, { syncId: first.syncId });
    // The same page again, after the worker was lost: nothing of it is known ground yet.
    expect(await keep(list, { syncId: first.syncId })).toMatchObject({ knownAtEnd: 0 });
    await test.ledger.purchases.complete(first, WRITER);
    expect(await keep([purchase("p0"), ...list])).toMatchObject({ added: 1, knownAtEnd: 3 });
    expect(await keep([...list, purchase("p9")])).toMatchObject({ added: 1, knownAtEnd: 0 });
  });

  it("excludes what only a part of the list or a window has shown", async () => {
    const { keep, sync } = business();
    const recent = sync("recent");
    await keep([purchase("p1")], { syncId: recent.syncId, pass: "part" });
    await test.ledger.purchases.complete(recent, WRITER);
    const window = sync("window");
    await keep([purchase("p2")], { syncId: window.syncId });
    await test.ledger.purchases.complete(window, WRITER);
    expect(await keep([purchase("p1"), purchase("p2")])).toMatchObject({ knownAtEnd: 0 });
  });
});

describe("a purchase that was open and is no longer", () => {
  it("is searched for on the day of its invoice", async () => {
    const { keep, sync } = business();
    await keep([
      purchase("p1", { invoiceDate: "2026-11-03" }),
      purchase("p2", { invoiceDate: "2026-11-01", status: "pending_review" }),
      purchase("p3", { invoiceDate: "2026-11-02", status: "confirmed" }),
      purchase("p4", { invoiceDate: "2026-11-04" }),
      ...["0000-00-00", "2026-11-31", "2026-13-45", "2026-02-29"].map((invoiceDate) =>
        purchase(invoiceDate, { invoiceDate }),
      ),
    ]);
    const recent = sync("recent");
    await keep([purchase("p4", { invoiceDate: "2026-11-04" })], { syncId: recent.syncId, pass: "part" });
    expect(await test.ledger.purchases.windowsOfChanged(recent)).toEqual([
      { from: "2026-11-01", to: "2026-11-01" },
      { from: "2026-11-03", to: "2026-11-03" },
    ]);
  });

  it("is searched for in one window where many days are concerned", async () => {
    const { keep, sync } = business();
    const dates = Array.from({ length: 40 }, (_, n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10));
    await keep(dates.map((invoiceDate, n) => purchase(`p${n}`, { invoiceDate })));
    const windows = await test.ledger.purchases.windowsOfChanged(sync("recent"));
    expect(windows).toEqual([{ from: "2026-01-01", to: "2026-02-09" }]);
  });
});

describe("a full synchronisation of purchases", () => {
  it("marks what disappeared from the list, and what came back", async () => {
    const { keep, sync, scope, changesOf } = business();
    await keep([purchase("p1"), purchase("p2")]);
    const full = sync("full");
    await keep([purchase("p1")], { syncId: full.syncId });
    expect(await test.ledger.purchases.unseen(full)).toBe(1);
    await test.ledger.purchases.complete(full, WRITER);
    await test.ledger.purchases.complete(full, WRITER);
    expect(await test.ledger.purchases.summary(scope, 10)).toMatchObject({
      total: 1,
      missing: { count: 1, first: ["p2"] },
    });
    await keep([purchase("p2")]);
    expect((await test.ledger.purchases.summary(scope, 10)).missing.count).toBe(0);
    expect(await changesOf("p2")).toEqual(["first-seen", "missing", "returned"]);
  });

  it("counts a row as seen, also where a page of an earlier synchronisation arrives late", async () => {
    const { keep, sync, kept } = business();
    const askedAtMs = await test.ledger.purchases.now();
    await keep([purchase("p1")], { askedAtMs });
    const full = sync("full");
    await keep([purchase("p1")], { syncId: full.syncId, askedAtMs: askedAtMs + 2 });
    await keep([purchase("p1", { status: "confirmed" })], { askedAtMs: askedAtMs + 1 });
    expect(await test.ledger.purchases.unseen(full)).toBe(0);
    await test.ledger.purchases.complete(full, WRITER);
    expect(await kept()).toMatchObject([{ entry: { status: "pulled" }, missingSinceMs: null }]);
    expect(await keep([purchase("p1")])).toMatchObject({ knownAtEnd: 1 });
  });

  it("marks more rows than fit into one transaction", async () => {
    const { keep, sync } = business();
    const list = Array.from({ length: 1_100 }, (_, n) => purchase(`p${String(n).padStart(5, "0")}`));
    const full = sync("full");
    for (let at = 0; at < list.length; at += 100) await keep(list.slice(at, at + 100), { syncId: full.syncId });
    await test.ledger.purchases.complete(full, WRITER);
    expect(await keep(list.slice(1_000))).toMatchObject({ knownAtEnd: 100 });
    const later = sync("full");
    await test.ledger.purchases.complete(later, WRITER);
    expect(await test.ledger.purchases.unseen(later)).toBe(0);
  });
});

describe("an unreadable row of a page of purchases", () => {
  it("does not count as gone where the ledger knows its id, and its kept row stays", async () => {
    const { keep, sync, kept, changesOf } = business();
    await keep([purchase("p1"), purchase("p2"), purchase("p3")]);
    const full = sync("full");
    await test.ledger.purchases.begin(full);
    const page = await keep([purchase("p1")], { syncId: full.syncId, leftOut: ["p2", "unheard of"] });
    expect(page).toMatchObject({ rows: 1, added: 0, changed: 0 });
    expect(await test.ledger.purchases.unseen(full)).toBe(1);
    await test.ledger.purchases.complete(full, WRITER);
    const missing = (await kept()).filter(({ missingSinceMs }) => missingSinceMs !== null);
    expect(missing.map(({ entry: { id } }) => id)).toEqual(["p3"]);
    expect(await changesOf("p2")).toEqual(["first-seen"]);
  });

  it("without a readable id keeps every row from being marked as gone", async () => {
    const { keep, sync, kept } = business();
    await keep([purchase("p1"), purchase("p2")]);
    const full = sync("full");
    await test.ledger.purchases.begin(full);
    await keep([purchase("p1")], { syncId: full.syncId });
    await test.ledger.purchases.complete({ ...full, unidentified: true }, WRITER);
    expect((await kept()).map(({ missingSinceMs }) => missingSinceMs)).toEqual([null, null]);
  });
});
