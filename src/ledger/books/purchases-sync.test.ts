import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { businessWithPurchases, purchaseOf as purchase } from "../test-support/purchases.ts";

const test = ledgerOfSuite();

const business = () => businessWithPurchases(test.ledger);

describe("a purchase that was open and is no longer", () => {
  it("is searched for on the day of its invoice", async () => {
    const { keep, scope } = business();
    await keep([
      purchase("p1", { invoiceDate: "2026-11-03" }),
      purchase("p2", { invoiceDate: "2026-11-01", status: "pending_review" }),
      purchase("p3", { invoiceDate: "2026-11-02", status: "confirmed" }),
      purchase("p4", { invoiceDate: "2026-11-04" }),
      ...["0000-00-00", "2026-11-31", "2026-13-45", "2026-02-29"].map((invoiceDate) =>
        purchase(invoiceDate, { invoiceDate }),
      ),
    ]);
    const sinceMs = (await test.ledger.purchases.now()) + 1;
    await keep([purchase("p4", { invoiceDate: "2026-11-04" })], { askedAtMs: sinceMs });
    expect(await test.ledger.purchases.daysOfChanged(scope, sinceMs)).toEqual([
      { from: "2026-11-01", to: "2026-11-01" },
      { from: "2026-11-03", to: "2026-11-03" },
    ]);
  });

  it("is searched for in one window where many days are concerned", async () => {
    const { keep, scope } = business();
    const dates = Array.from({ length: 40 }, (_, n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10));
    await keep(dates.map((invoiceDate, n) => purchase(`p${n}`, { invoiceDate })));
    const windows = await test.ledger.purchases.daysOfChanged(scope, (await test.ledger.purchases.now()) + 1);
    expect(windows).toEqual([{ from: "2026-01-01", to: "2026-02-09" }]);
  });
});

describe("a window of purchases", () => {
  it("makes no known ground, since it says nothing of what is older", async () => {
    const { sync, complete } = business();
    const window = sync("window");
    await test.ledger.purchases.begin(window);
    await complete(window, { knownUntilMs: await test.ledger.purchases.now() });
    expect(await test.ledger.purchases.begin(sync("recent"))).toMatchObject({ kind: "full" });
  });
});

describe("a full synchronisation of purchases", () => {
  const soon = async () => (await test.ledger.purchases.now()) + 1;

  it("marks what disappeared from the list, and what came back", async () => {
    const { keep, sync, complete, scope, changesOf } = business();
    await keep([purchase("p1"), purchase("p2")]);
    const full = sync("full");
    const goneBeforeMs = await soon();
    await keep([purchase("p1")], { askedAtMs: goneBeforeMs });
    expect(await test.ledger.purchases.count(full, goneBeforeMs)).toEqual({
      total: 1,
      byStatus: { pulled: 1 },
      unseen: 1,
    });
    await complete(full, { goneBeforeMs });
    await complete(full, { goneBeforeMs });
    expect(await test.ledger.purchases.summary(scope, 10)).toMatchObject({
      total: 1,
      missing: { count: 1, first: ["p2"] },
    });
    await keep([purchase("p2")]);
    expect((await test.ledger.purchases.summary(scope, 10)).missing.count).toBe(0);
    expect(await changesOf("p2")).toEqual(["first-seen", "missing", "returned"]);
  });

  it("counts a row as seen, also where a page of an earlier synchronisation arrives late", async () => {
    const { keep, sync, complete, kept } = business();
    const askedAtMs = await test.ledger.purchases.now();
    await keep([purchase("p1")], { askedAtMs });
    await keep([purchase("p1")], { askedAtMs: askedAtMs + 2 });
    await keep([purchase("p1", { status: "confirmed" })], { askedAtMs: askedAtMs + 1 });
    await complete(sync("full"), { goneBeforeMs: askedAtMs + 2 });
    expect(await kept()).toMatchObject([{ entry: { status: "pulled" }, missingSinceMs: null }]);
    const knownUntilMs = askedAtMs;
    expect(await keep([purchase("p1")], { knownUntilMs })).toMatchObject({ known: true });
  });

  it("marks more rows than fit into one transaction", async () => {
    const { keep, sync, complete, scope } = business();
    const list = Array.from({ length: 1_100 }, (_, n) => purchase(`p${String(n).padStart(5, "0")}`));
    for (let at = 0; at < list.length; at += 100) await keep(list.slice(at, at + 100));
    await complete(sync("full"), { goneBeforeMs: await soon() });
    expect(await test.ledger.purchases.summary(scope, 1)).toMatchObject({ total: 0, missing: { count: 1_100 } });
  });
});

describe("an unreadable row of a page of purchases", () => {
  it("does not count as gone where the ledger knows its id, and its kept row stays", async () => {
    const { keep, sync, complete, kept, changesOf } = business();
    await keep([purchase("p1"), purchase("p2"), purchase("p3")]);
    const goneBeforeMs = (await test.ledger.purchases.now()) + 1;
    const page = await keep([purchase("p1")], { askedAtMs: goneBeforeMs, leftOut: ["p2", "unheard of"] });
    expect(page).toMatchObject({ rows: 1, added: 0, changed: 0 });
    await complete(sync("full"), { goneBeforeMs });
    const missing = (await kept()).filter(({ missingSinceMs }) => missingSinceMs !== null);
    expect(missing.map(({ entry: { id } }) => id)).toEqual(["p3"]);
    expect(await changesOf("p2")).toEqual(["first-seen"]);
  });
});
