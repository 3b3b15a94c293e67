import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Purchase } from "../../contract/index.ts";
import type { KeepPageRequest, KeptPage, Purchases, PurchaseSync } from "../index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";

let test: TestLedger;
beforeAll(async () => {
  test = await createTestLedger();
  await test.ledger.ready();
});
afterAll(() => test?.drop());

const WRITER = { workflowId: "sync-purchases/default/biz", runId: "run-1" };

function purchase(id: string, more: Partial<Purchase> = {}): Purchase {
  return {
    id,
    status: "pulled",
    supplier: { name: "Mill", pin: `P-${id}` },
    supplierInvoiceNumber: `S-${id}`,
    invoiceDate: "2026-11-01",
    branch: "Main",
    totals: { subtotal: 100.1, vat: 16.02, total: 116.12 },
    lines: [],
    confirmationError: null,
    ...more,
  };
}

/** A business of its own, and what a synchronisation does to it. */
function business() {
  const scope = { connection: "default", businessId: randomUUID() };
  const purchases = (): Purchases => test.ledger.purchases;
  const sync = (kind: PurchaseSync["kind"], syncId = randomUUID()): PurchaseSync => ({ ...scope, syncId, kind });
  const keep = async (list: Purchase[], more: Partial<KeepPageRequest> = {}): Promise<KeptPage> =>
    purchases().keepPage({
      ...scope,
      syncId: "sync-0",
      pass: "list",
      purchases: list,
      askedAtMs: await purchases().now(),
      writer: WRITER,
      ...more,
    });
  const kept = () => purchases().page(scope, { most: 1_000 });
  const changesOf = async (id: string) => (await purchases().history(scope, id)).map(({ what }) => what);
  return { scope, sync, keep, kept, changesOf };
}

describe("a page of purchases", () => {
  it("is kept whole, with fields that nobody knows", async () => {
    const { keep, kept } = business();
    const odd = { ...purchase("p1"), somethingNew: { deep: [1] } };
    expect(await keep([odd, purchase("p2")])).toEqual({ rows: 2, added: 2, changed: 0, knownAtEnd: 0 });
    const rows = await kept();
    expect(rows.map((row) => row.purchase)).toEqual([odd, purchase("p2")]);
    expect(rows[0]).toMatchObject({ missingSinceMs: null, writer: WRITER });
  });

  it("changes nothing when it is kept again, in whatever order its fields come", async () => {
    const { keep, changesOf } = business();
    await keep([purchase("p1")]);
    const { id, ...rest } = purchase("p1");
    expect(await keep([{ ...rest, id }])).toMatchObject({ added: 0, changed: 0 });
    expect(await changesOf("p1")).toEqual(["first-seen"]);
  });

  it("writes down each status and each confirmation error that it brings", async () => {
    const { keep, scope } = business();
    await keep([purchase("p1")]);
    await keep([purchase("p1", { status: "pending_review", confirmationError: "No such item" })]);
    await keep([purchase("p1", { status: "confirmed" })]);
    const history = await test.ledger.purchases.history(scope, "p1");
    expect(history.map(({ what, before, after }) => [what, before, after])).toEqual([
      ["first-seen", null, { status: "pulled", confirmationError: null }],
      ["status", "pulled", "pending_review"],
      ["confirmation-error", null, "No such item"],
      ["status", "pending_review", "confirmed"],
      ["confirmation-error", "No such item", null],
    ]);
  });

  it("tells which fields of the content have changed", async () => {
    const { keep, scope } = business();
    await keep([purchase("p1")]);
    await keep([purchase("p1", { totals: { subtotal: 1, vat: 0, total: 1 } })]);
    const [, change] = await test.ledger.purchases.history(scope, "p1");
    expect(change).toMatchObject({ what: "content", after: { totals: { subtotal: 1, vat: 0, total: 1 } } });
    expect(change?.before).toEqual({ totals: { subtotal: 100.1, vat: 16.02, total: 116.12 } });
  });

  it("that was asked for earlier never replaces what was asked for later", async () => {
    const { keep, kept } = business();
    const earlier = await test.ledger.purchases.now();
    await keep([purchase("p1", { status: "confirmed" })], { askedAtMs: earlier + 1 });
    await keep([purchase("p1", { status: "pulled" })], { askedAtMs: earlier });
    expect((await kept())[0]?.purchase.status).toBe("confirmed");
  });

  it("may hold what a database does not take as it is", async () => {
    const { keep, kept } = business();
    const odd = purchase("p1", { supplierInvoiceNumber: "a\0b", confirmationError: "\ud800 half" });
    await keep([odd]);
    expect(await keep([odd])).toMatchObject({ added: 0, changed: 0 });
    expect(await kept()).toHaveLength(1);
  });

  it("counts as one where two come at once", async () => {
    const { keep, kept } = business();
    const list = Array.from({ length: 100 }, (_, n) => purchase(`p${n}`));
    const results = await Promise.all(Array.from({ length: 4 }, () => keep(list)));
    expect(results.reduce((sum, { added }) => sum + added, 0)).toBe(100);
    expect(await kept()).toHaveLength(100);
  });
});

describe("known ground", () => {
  it("is what a synchronisation has listed that came to its end, and no other", async () => {
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

  it("is nothing that only a part of the list has shown, and nothing of a window", async () => {
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

describe("what was open and is not any more", () => {
  it("is looked for on the days of its invoices", async () => {
    const { keep, sync } = business();
    await keep([
      purchase("p1", { invoiceDate: "2026-11-03" }),
      purchase("p2", { invoiceDate: "2026-11-01", status: "pending_review" }),
      purchase("p3", { invoiceDate: "2026-11-02", status: "confirmed" }),
      purchase("p4", { invoiceDate: "2026-11-04" }),
    ]);
    const recent = sync("recent");
    await keep([purchase("p4", { invoiceDate: "2026-11-04" })], { syncId: recent.syncId, pass: "part" });
    expect(await test.ledger.purchases.windowsOfChanged(recent)).toEqual([
      { from: "2026-11-01", to: "2026-11-01" },
      { from: "2026-11-03", to: "2026-11-03" },
    ]);
  });

  it("is looked for in one window where it was of many days", async () => {
    const { keep, sync } = business();
    const dates = Array.from({ length: 40 }, (_, n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10));
    await keep(dates.map((invoiceDate, n) => purchase(`p${n}`, { invoiceDate })));
    const windows = await test.ledger.purchases.windowsOfChanged(sync("recent"));
    expect(windows).toEqual([{ from: "2026-01-01", to: "2026-02-09" }]);
  });
});

describe("a full synchronisation", () => {
  it("shows what has gone from the list, and what came back", async () => {
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

  it("takes more rows than one transaction marks", async () => {
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

describe("a look through the purchases", () => {
  const tamper = (statement: string, businessId: string): Promise<void> => test.outside.tamper(statement, [businessId]);

  it("finds nothing where nobody was at them, whatever was kept", async () => {
    const { keep, scope, sync } = business();
    await keep([purchase("p1", { confirmationError: "\ud800 half" }), purchase("p2"), purchase("p 3")]);
    await keep([purchase("p1", { status: "confirmed" })]);
    await test.ledger.purchases.complete(sync("full"), WRITER);
    await keep([purchase("p1", { status: "confirmed" }), purchase("p2")]);
    expect(await test.ledger.purchases.verify(scope)).toEqual({ purchases: 3, findings: [], moreFindings: 0 });
  });

  it("finds a row that was changed, put back to an earlier state, or deleted", async () => {
    const { keep, scope } = business();
    await keep([purchase("p1"), purchase("p2"), purchase("p3")]);
    await keep([purchase("p2", { status: "confirmed" })]);
    await tamper(
      "update purchases set total = total + 1 where business_id = $1 and purchase_id = 'p1'",
      scope.businessId,
    );
    const back =
      "update purchases set event_number = 2, status = 'pulled' where business_id = $1 and purchase_id = 'p2'";
    await tamper(back, scope.businessId);
    await tamper("delete from purchases where business_id = $1 and purchase_id = 'p3'", scope.businessId);
    expect((await test.ledger.purchases.verify(scope)).findings).toEqual([
      { kind: "row-changed", table: "purchases", subject: "purchase p1", row: "purchase p1", columns: ["total"] },
      { kind: "row-behind", table: "purchases", subject: "purchase p2", event: 2, last: 4 },
      { kind: "row-missing", table: "purchases", subject: "purchase p3", row: "purchase p3" },
    ]);
  });
});

describe("amounts that no invoice would have", () => {
  it("are kept as they were written, and found as they were kept", async () => {
    const { keep, kept, scope } = business();
    const odd = purchase("p1", { totals: { subtotal: 1e21, vat: 5e-8, total: -2.842170943040401e-14 } });
    await keep([odd]);
    expect((await kept())[0]?.purchase).toEqual(odd);
    expect((await test.ledger.purchases.verify(scope)).findings).toEqual([]);
  });
});

describe("the summary of a business", () => {
  it("counts by status, and names errors and invoices that are there under two ids", async () => {
    const { keep, scope } = business();
    const twice = { supplier: { name: "Mill", pin: "P1" }, supplierInvoiceNumber: "S-1" };
    await keep([
      purchase("p1", twice),
      purchase("p2", { ...twice, status: "confirmed" }),
      purchase("p3", { ...twice, supplier: { name: "Other", pin: "P2" } }),
      purchase("p4", { status: "pending_review", confirmationError: "No such item" }),
    ]);
    expect(await test.ledger.purchases.summary(scope, 10)).toEqual({
      total: 4,
      byStatus: { pulled: 2, confirmed: 1, pending_review: 1 },
      confirmationErrors: {
        count: 1,
        first: [{ purchaseId: "p4", supplierInvoiceNumber: "S-p4", confirmationError: "No such item" }],
      },
      duplicates: {
        count: 1,
        first: [{ supplierPin: "P1", supplierInvoiceNumber: "S-1", purchaseIds: ["p1", "p2"] }],
      },
      missing: { count: 0, first: [] },
    });
  });
});
