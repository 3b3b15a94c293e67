import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import {
  businessWithPurchases,
  purchaseOf as purchase,
  PURCHASES_WRITER as WRITER,
} from "../test-support/purchases.ts";

let test: TestLedger;
beforeAll(async () => {
  test = await createTestLedger(15_000);
  await test.ledger.ready();
});
afterAll(() => test?.drop());

const business = () => businessWithPurchases(test.ledger);

describe("a page of purchases", () => {
  it("is kept whole, with fields that nobody knows", async () => {
    const { keep, kept } = business();
    const odd = { ...purchase("p1"), somethingNew: { deep: [1] } };
    expect(await keep([odd, purchase("p2")])).toEqual({ rows: 2, added: 2, changed: 0, knownAtEnd: 0 });
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

  it("is unchanged where an empty confirmation error has taken the place of none", async () => {
    const { keep, scope, changesOf } = business();
    await keep([purchase("p1", { confirmationError: null })]);
    expect(await keep([purchase("p1", { confirmationError: "" })])).toMatchObject({ added: 0, changed: 0 });
    expect(await changesOf("p1")).toEqual(["first-seen"]);
    expect(await test.ledger.purchases.verify(scope)).toMatchObject({ findings: [] });
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
    expect((await kept())[0]?.entry.status).toBe("confirmed");
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
