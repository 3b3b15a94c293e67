import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import {
  businessWithPurchases,
  purchaseOf as purchase,
  PURCHASES_WRITER as WRITER,
} from "../test-support/purchases.ts";
import { verified } from "../test-support/verified.ts";

const test = ledgerOfSuite();

const business = () => businessWithPurchases(test.ledger);

describe("a page of purchases", () => {
  it("is kept whole, with unknown fields", async () => {
    const { keep, kept } = business();
    const odd = { ...purchase("p1"), somethingNew: { deep: [1] } };
    expect(await keep([odd, purchase("p2")])).toEqual({ rows: 2, added: 2, changed: 0, known: false });
    const rows = await kept();
    expect(rows.map((row) => row.entry)).toEqual([odd, purchase("p2")]);
    expect(rows[0]).toMatchObject({ missingSinceMs: null, writer: WRITER });
  });

  it("changes nothing when it is kept again, in whatever order its fields come", async () => {
    const { keep, changesOf } = business();
    await keep([purchase("p1")]);
    const { id, ...rest } = purchase("p1");
    expect(await keep([{ ...rest, id }])).toMatchObject({ added: 0, changed: 0 });
    expect(await changesOf("p1")).toEqual(["first-seen"]);
  });

  it("records each new content as an event, the status and the confirmation error among it", async () => {
    const { keep, scope } = business();
    await keep([purchase("p1")]);
    await keep([purchase("p1", { status: "pending_review", confirmationError: "No such item" })]);
    await keep([purchase("p1", { status: "confirmed" })]);
    const history = await test.ledger.purchases.history(scope, "p1");
    expect(history.map(({ changes, entry }) => [changes, entry])).toEqual([
      [["first-seen"], purchase("p1")],
      [["content"], purchase("p1", { status: "pending_review", confirmationError: "No such item" })],
      [["content"], purchase("p1", { status: "confirmed" })],
    ]);
  });

  it("that was asked for earlier never replaces what was asked for later", async () => {
    const { keep, kept } = business();
    const earlier = await test.ledger.purchases.now();
    await keep([purchase("p1", { status: "confirmed" })], { askedAtMs: earlier + 1 });
    await keep([purchase("p1", { status: "pulled" })], { askedAtMs: earlier });
    expect((await kept())[0]?.entry.status).toBe("confirmed");
  });

  it("may hold characters that the database does not store", async () => {
    const { keep, kept, scope } = business();
    const lines = [{ description: "zero \0", quantity: 1, unitPrice: 1, total: 1.16, taxAmount: 0.16, taxRate: 16 }];
    const odd = purchase("p1", { supplierInvoiceNumber: "a\0b", confirmationError: "\ud800 half", lines });
    await keep([odd]);
    expect(await keep([odd])).toMatchObject({ added: 0, changed: 0 });
    expect(await kept()).toHaveLength(1);
    const days = { from: "2026-11-01", to: "2026-11-30" };
    const sums = await test.ledger.purchases.list({ days, ...scope }, async ([one]) => one?.rateSums);
    expect(sums).toMatchObject([{ taxRate: "16", vat: "0.16" }]);
  });

  it("is kept once where two copies arrive at once", async () => {
    const { keep, kept } = business();
    const list = Array.from({ length: 100 }, (_, n) => purchase(`p${n}`));
    const results = await Promise.all(Array.from({ length: 4 }, () => keep(list)));
    expect(results.reduce((sum, { added }) => sum + added, 0)).toBe(100);
    expect(await kept()).toHaveLength(100);
  });
});

describe("a purchase's row that was altered in the database", () => {
  const tamper = (change: string, businessId: string) =>
    test.outside.tamper(`update purchases set ${change} where business_id = $1`, [businessId]);

  it.each([
    [`body = body || '{"status":"confirmed"}'`, "body"],
    ["body = jsonb_set(body, '{totals,total}', '1')", "body"],
    ["missing_since = now()", "missing_since"],
    ["run_id = 'made up'", "run_id"],
  ])("is named, and stays as it is, without an event, until somebody mends it: %s", async (change, column) => {
    const { keep, kept, scope, changesOf } = business();
    await keep([purchase("p1")]);
    const { rows } = await test.outside.query<Record<string, unknown>>(
      "select body::text as body, missing_since, run_id from purchases where business_id = $1",
      [scope.businessId],
    );
    await tamper(change, scope.businessId);
    const totals = { subtotal: 200, vat: 32, total: 232 };
    for (const listed of [purchase("p1"), purchase("p1", { totals })]) {
      expect(await keep([listed])).toMatchObject({ added: 0, changed: 0 });
      expect((await verified(test.ledger, scope)).findings).toMatchObject([{ kind: "row-changed", columns: [column] }]);
    }
    expect(await changesOf("p1")).toEqual(["first-seen"]);
    await test.outside.tamper(`update purchases set ${column} = $2 where business_id = $1`, [
      scope.businessId,
      rows[0]?.[column],
    ]);
    await keep([purchase("p1", { totals })]);
    expect((await kept())[0]?.entry).toEqual(purchase("p1", { totals }));
    expect((await verified(test.ledger, scope)).findings).toEqual([]);
  });

  it("has columns that nobody can alter apart from what the service answered", async () => {
    const { keep, scope } = business();
    await keep([purchase("p1")]);
    await expect(tamper("total = 1", scope.businessId)).rejects.toThrow(
      'column "total" can only be updated to DEFAULT',
    );
  });
});
