import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { BillPayments } from "./bill-payments.ts";
import { billPayment as payment, someConnection, SYNC_WRITER } from "../test-support/bill-payments.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";

let made: TestLedger;
let payments: BillPayments;
beforeAll(async () => {
  made = await createTestLedger();
  await made.ledger.ready();
  payments = made.ledger.billPayments;
});
afterAll(() => made?.drop());

const connection = () => someConnection(made.ledger);

describe("a page of bill payments", () => {
  test("is kept once, however often it is kept", async () => {
    const { keep, all, changesOf } = connection();
    const rows = [payment("a"), payment("b", { custom: { deep: [1] } })];
    expect(await keep(rows)).toEqual({ rows: 2, added: 2, changed: 0, known: false });
    expect(await keep(rows)).toEqual({ rows: 2, added: 0, changed: 0, known: false });
    expect((await all()).map(({ entry, syncStatus }) => [entry, syncStatus])).toEqual([
      [rows[0], null],
      [rows[1], null],
    ]);
    expect(await changesOf("a")).toEqual(["first-seen"]);
  });

  test("counts how many left-out rows are in the ledger already, and does not change those", async () => {
    const { name, keep, all, changesOf, verify } = connection();
    await keep([payment("a"), payment("b")], { status: "pending" });
    const askedAtMs = await payments.now();
    const page = { connection: name, entries: [payment("a")], askedAtMs, writer: SYNC_WRITER };
    const leftOut = ["b", "b", "unheard of"];
    expect(await payments.keepPage({ ...page, leftOut, status: "synced" })).toEqual({
      rows: 1,
      added: 0,
      changed: 2,
      known: false,
      leftOutKnown: 1,
    });
    expect((await all()).map(({ syncStatus, entry }) => [syncStatus, entry])).toEqual([
      ["synced", payment("a")],
      ["synced", payment("b")],
    ]);
    expect(await changesOf("b")).toEqual(["first-seen", "status"]);
    expect((await verify()).findings).toEqual([]);
  });

  test("leaves a left-out row whose stored body was altered as it is, and does not call it gone", async () => {
    const { name, keep, all, changesOf, sync, complete, verify } = connection();
    await keep([payment("a"), payment("b")], { status: "pending" });
    const statement = `update bill_payments set body = body || '{"id":"c"}' where connection = 'accounting/' || $1 and id = 'b'`;
    await made.outside.tamper(statement, [name]);
    const askedAtMs = (await payments.now()) + 1;
    const page = { connection: name, entries: [payment("a")], askedAtMs, writer: SYNC_WRITER };
    const kept = await payments.keepPage({ ...page, leftOut: ["b"], status: "synced" });
    expect(kept).toMatchObject({ rows: 1, added: 0, changed: 1, leftOutKnown: 1 });
    await complete(sync("full"), { goneBeforeMs: askedAtMs });
    expect((await all()).map(({ syncStatus, missingSinceMs }) => [syncStatus, missingSinceMs])).toEqual([
      ["synced", null],
      ["pending", null],
    ]);
    expect(await changesOf("b")).toEqual(["first-seen"]);
    expect((await verify()).findings).toMatchObject([{ subject: "bill payment b", columns: ["body"] }]);
  });

  test("keeps amounts as they are written, and lines in the body", async () => {
    const { name, keep } = connection();
    const lines = [
      { amount: 0.1, allocatedOnDate: "2026-11-01", reference: "r", links: [{ billId: "bill", amount: 0.2 }] },
      { amount: 123456789012.34 },
    ];
    await keep([payment("a", { totalAmount: 123456789012.44, currencyRate: 1e-7, lines })]);
    await keep([payment("a", { totalAmount: 123456789012.44, currencyRate: 1e-7, lines: lines.slice(0, 1) })]);
    const main = await made.outside.query(
      "select total_amount, currency_rate from bill_payments where connection = 'accounting/' || $1",
      [name],
    );
    expect(main.rows).toEqual([{ total_amount: "123456789012.44", currency_rate: "0.0000001" }]);
    const kept = await made.outside.query(
      "select line ->> 'amount' as amount, line ->> 'links' as links from bill_payments, jsonb_array_elements(body -> 'lines') as line where connection = 'accounting/' || $1",
      [name],
    );
    expect(kept.rows).toEqual([{ amount: "0.1", links: '[{"amount": 0.2, "billId": "bill"}]' }]);
  });

  test("records in the events what changed, and who wrote it", async () => {
    const { name, keep, all } = connection();
    await keep([payment("a", { note: "x" })]);
    await keep([payment("a", { note: "y" })], { status: "pending" });
    await keep([payment("a", { note: "y" })], { status: "synced" });
    expect(await payments.history({ connection: name }, "a")).toMatchObject([
      { changes: ["first-seen"], status: null, entry: { note: "x" }, writer: SYNC_WRITER },
      { changes: ["status-learned", "content"], status: "pending", entry: { note: "y" } },
      { changes: ["status"], status: "synced", entry: { note: "y" } },
    ]);
    expect(await all()).toMatchObject([{ syncStatus: "synced", entry: { note: "y" }, writer: SYNC_WRITER }]);
  });

  test("that was asked for earlier replaces nothing that was asked for later", async () => {
    const { keep, all } = connection();
    const earlier = await payments.now();
    await keep([payment("a", { note: "new" })], { askedAtMs: earlier + 10, status: "synced" });
    await keep([payment("a", { note: "old" })], { askedAtMs: earlier, status: "pending" });
    expect(await all()).toMatchObject([{ syncStatus: "synced", entry: { note: "new" } }]);
    await keep([payment("a", { note: "newest" })], { askedAtMs: earlier + 11 });
    expect(await all()).toMatchObject([{ syncStatus: "synced", entry: { note: "newest" } }]);
  });

  test("with one id twice keeps the last, and what PostgreSQL cannot keep is made storable", async () => {
    const { keep, all } = connection();
    expect(await keep([payment("a", { note: "1" }), payment("a", { note: "2\u0000\ud800" })])).toMatchObject({
      added: 1,
    });
    expect(await all()).toMatchObject([{ entry: { note: expect.stringContaining("2") } }]);
  });

  test("of another connection is kept separately", async () => {
    const [one, other] = [connection(), connection()];
    await one.keep([payment("a")]);
    expect(await other.all()).toEqual([]);
    expect(await payments.summary(one.name)).toEqual({ total: 1, byStatus: { none: 1 }, missing: 0 });
  });
});

describe("a full synchronisation", () => {
  test("counts what was seen since it began, by the statuses that it saw", async () => {
    const { keep, sync } = connection();
    const before = await payments.now();
    await keep([payment("a"), payment("b"), payment("c")], { status: "pending", askedAtMs: before - 1 });
    await keep([payment("a"), payment("b")], { askedAtMs: before });
    await keep([payment("b")], { status: "synced", askedAtMs: before });
    expect(await payments.count(sync("full"), before)).toEqual({
      total: 2,
      byStatus: { none: 1, synced: 1 },
      unseen: 1,
    });
    expect(await payments.count(sync("full"), 0)).toMatchObject({ total: 3, byStatus: { pending: 2, synced: 1 } });
  });

  test("finds what is not listed any more, and what came back", async () => {
    const { name, keep, sync, complete, all, changesOf } = connection();
    const full = sync("full");
    await payments.begin(full);
    await keep([payment("stays"), payment("goes")], { status: "synced" });
    const askedAtMs = (await payments.now()) + 1;
    await keep([payment("stays")], { askedAtMs, status: "synced" });
    await keep([payment("seen-after")], { askedAtMs });
    await complete(full, { goneBeforeMs: askedAtMs });
    await complete(full, { goneBeforeMs: askedAtMs });
    expect((await all()).map(({ entry, missingSinceMs }) => [entry.id, missingSinceMs !== null])).toEqual([
      ["goes", true],
      ["seen-after", false],
      ["stays", false],
    ]);
    expect(await payments.summary(name)).toEqual({ total: 2, byStatus: { none: 1, synced: 1 }, missing: 1 });
    await keep([payment("goes")]);
    expect(await changesOf("goes")).toEqual(["first-seen", "missing", "returned"]);
    expect(await payments.summary(name)).toMatchObject({ missing: 0 });
  });

  test("that has not settled marks nothing as missing", async () => {
    const { name, keep, sync, complete } = connection();
    await keep([payment("a")], { status: "synced" });
    await complete(sync("full"), { settled: false });
    expect(await payments.summary(name)).toEqual({ total: 1, byStatus: { synced: 1 }, missing: 0 });
  });

  test("removes the status of a payment that no status list has any more, where such lists were read", async () => {
    const { keep, sync, complete, all } = connection();
    const startedAtMs = await payments.now();
    await keep([payment("a")], { status: "failed", askedAtMs: startedAtMs - 1 });
    await keep([payment("a")], { askedAtMs: startedAtMs });
    await complete(sync("full"), { goneBeforeMs: startedAtMs, withStatuses: false });
    expect(await all()).toMatchObject([{ syncStatus: "failed" }]);
    await complete(sync("full"), { goneBeforeMs: startedAtMs });
    expect(await all()).toMatchObject([{ syncStatus: null }]);
  });
});

describe("known ground", () => {
  test("begins with the first synchronisation that ends, which reads everything", async () => {
    const { sync, complete } = connection();
    const ends = async (kind: "recent" | "full", settled: boolean, knownUntilMs: number) => {
      const one = sync(kind);
      const begun = await payments.begin(one);
      await complete({ ...one, kind: begun.kind }, { settled, knownUntilMs });
      return [begun.kind, begun.knownUntilMs];
    };
    expect(await ends("recent", false, 5)).toEqual(["full", undefined]);
    expect(await ends("recent", false, 7)).toEqual(["recent", 5]);
    expect(await ends("recent", true, 8)).toEqual(["recent", 5]);
    expect(await ends("full", true, 9)).toEqual(["full", 8]);
  });

  test("is what was kept until then, as the page shows it", async () => {
    const { keep } = connection();
    const list = [payment("a"), payment("b")];
    const askedAtMs = await payments.now();
    await keep(list, { askedAtMs });
    expect(await keep(list, { knownUntilMs: askedAtMs })).toMatchObject({ known: true });
    // Kept by one that never came to its end: below it there may be more.
    expect(await keep(list, { knownUntilMs: askedAtMs - 1 })).toMatchObject({ known: false });
    expect(await keep([...list, payment("c")], { knownUntilMs: askedAtMs })).toMatchObject({ known: false });
    expect(await keep(list, { status: "synced", knownUntilMs: askedAtMs })).toMatchObject({ known: false });
    expect(await keep([payment("a", { note: "new" })], { knownUntilMs: Date.now() })).toMatchObject({ known: false });
    expect(await keep([], { knownUntilMs: askedAtMs })).toMatchObject({ known: false });
  });

  test("and the beginning of a synchronisation are the same for a run that was reset", async () => {
    const { sync, complete } = connection();
    const first = sync("full");
    await payments.begin(first);
    await complete(first, { knownUntilMs: 5, leftOut: { all: 2 } });
    const second = sync("recent");
    const begun = await payments.begin(second);
    expect(begun).toMatchObject({ kind: "recent", knownUntilMs: 5, leftOut: { all: 2 } });
    await complete(second, { knownUntilMs: 9 });
    expect(await payments.begin(second)).toEqual(begun);
  });
});

test("what was left out of the known ground is known, also where the full synchronisation has not settled", async () => {
  const { sync, complete } = connection();
  const ends = async (kind: "recent" | "full", knownUntilMs: number, settled: boolean, all: number) => {
    const one = sync(kind);
    const begun = await payments.begin(one);
    await complete(one, { settled, knownUntilMs, leftOut: { all } });
    return begun.leftOut;
  };
  expect(await ends("full", 5, true, 2)).toBeUndefined();
  // A row without an id: nothing that was not seen is known to have vanished.
  expect(await ends("full", 6, false, 3)).toEqual({ all: 2 });
  expect(await ends("recent", 7, false, 4)).toEqual({ all: 3 });
  expect(await ends("recent", 8, true, 3)).toEqual({ all: 3 });
  expect(await ends("full", 9, true, 0)).toEqual({ all: 3 });
  expect(await ends("recent", 10, true, 0)).toEqual({ all: 0 });
});

test("the chain of an accounting connection verifies, and is separate from a compliance connection of the same name", async () => {
  const { name, keep } = connection();
  await keep([payment("a"), payment("b")]);
  const { rows } = await made.outside.query("select count from event_heads where connection = $1", [
    `accounting/${name}`,
  ]);
  expect(rows).toEqual([{ count: "2" }]);
});
