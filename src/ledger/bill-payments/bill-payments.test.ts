import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { BillPayments } from "../index.ts";
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
    const { keep, all, history } = connection();
    const rows = [payment("a"), payment("b", { custom: { deep: [1] } })];
    expect(await keep(rows)).toEqual({ rows: 2, added: 2, changed: 0 });
    expect(await keep(rows)).toEqual({ rows: 2, added: 0, changed: 0 });
    expect((await all()).map(({ entry, syncStatus }) => [entry, syncStatus])).toEqual([
      [rows[0], null],
      [rows[1], null],
    ]);
    expect(await history("a")).toEqual([["first-seen", null, { status: null }]]);
  });

  test("counts how many left-out rows are in the ledger already, and does not change those", async () => {
    const { name, keep, all, history, verify } = connection();
    await keep([payment("a"), payment("b")], { status: "pending" });
    const askedAtMs = await payments.now();
    const page = { connection: name, entries: [payment("a")], askedAtMs, writer: SYNC_WRITER };
    const leftOut = ["b", "b", "unheard of"];
    expect(await payments.keepPage({ ...page, leftOut, status: "synced" })).toEqual({
      rows: 1,
      added: 0,
      changed: 2,
      leftOutKnown: 1,
    });
    expect((await all()).map(({ syncStatus, entry }) => [syncStatus, entry])).toEqual([
      ["synced", payment("a")],
      ["synced", payment("b")],
    ]);
    expect((await history("b")).map(([what]) => what)).toEqual(["first-seen", "status"]);
    expect((await verify()).findings).toEqual([]);
  });

  test("marks a left-out row by its own key, even if its stored body was altered", async () => {
    const { name, keep, all, history } = connection();
    await keep([payment("a"), payment("b")], { status: "pending" });
    const statement = `update bill_payments set body = replace(body, '"id":"b"', '"id":"c"') where connection = $1`;
    await made.outside.tamper(statement, [name]);
    const page = { connection: name, entries: [payment("a")], askedAtMs: await payments.now(), writer: SYNC_WRITER };
    const kept = await payments.keepPage({ ...page, leftOut: ["b"], status: "synced" });
    expect(kept).toEqual({ rows: 1, added: 0, changed: 2, leftOutKnown: 1 });
    expect((await all()).map(({ syncStatus }) => syncStatus)).toEqual(["synced", "synced"]);
    expect(await history("b")).toContainEqual(["status", "pending", "synced"]);
    expect(await history("c")).toEqual([]);
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
      "select total_amount, currency_rate from bill_payments where connection = $1",
      [name],
    );
    expect(main.rows).toEqual([{ total_amount: "123456789012.44", currency_rate: "0.0000001" }]);
    const kept = await made.outside.query(
      "select line ->> 'amount' as amount, line ->> 'links' as links from bill_payments, json_array_elements(body::json -> 'lines') as line where connection = $1",
      [name],
    );
    expect(kept.rows).toEqual([{ amount: "0.1", links: '[{"amount":0.2,"billId":"bill"}]' }]);
  });

  test("records in the events what changed, and who wrote it", async () => {
    const { name, keep, all } = connection();
    await keep([payment("a", { note: "x" })]);
    await keep([payment("a", { note: "y" })], { status: "pending" });
    await keep([payment("a", { note: "y" })], { status: "synced" });
    expect(await payments.history(name, "a")).toMatchObject([
      { what: "first-seen", writer: SYNC_WRITER },
      { what: "status", before: null, after: "pending" },
      { what: "content", before: { note: "x" }, after: { note: "y" } },
      { what: "status", before: "pending", after: "synced" },
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
  const reach = { reachMs: Date.parse("2026-11-01T08:00:00.000Z"), syncStartedAtMs: 0, withStatuses: true };

  test("notices rows that one of its lists has and another misses", async () => {
    const { name, keep, sync } = connection();
    const startedAtMs = await payments.now();
    const round = { name: "r1", startedAtMs };
    await payments.begin(sync("full"));
    await keep([payment("both"), payment("list")], { round: "r1" });
    await keep([payment("both"), payment("status"), payment("later", { createdAt: "2026-11-02T00:00:00Z" })], {
      round: "r1",
      status: "synced",
    });
    expect(await payments.compareRound(name, round, reach)).toEqual({
      missedByList: 1,
      missedByStatuses: 1,
      sinceRound: { total: 4, byStatus: { none: 1, synced: 3 } },
      sinceStart: { total: 4, byStatus: { none: 1, synced: 3 } },
    });
    await keep([payment("both"), payment("list"), payment("status")], { round: "r2" });
    await keep([payment("both"), payment("status")], { round: "r2", status: "synced" });
    const second = { name: "r2", startedAtMs };
    expect(await payments.compareRound(name, second, reach)).toMatchObject({ missedByList: 0, missedByStatuses: 0 });
  });

  test("that has settled finds what is not listed any more, and what came back", async () => {
    const { name, keep, sync, all, history } = connection();
    const full = sync("full");
    await payments.begin(full);
    await keep([payment("stays"), payment("goes")], { status: "synced" });
    const startedAtMs = (await payments.now()) + 1;
    const askedAtMs = startedAtMs;
    await keep([payment("stays")], { round: "r1", askedAtMs });
    await keep([payment("stays")], { round: "r1", status: "synced", askedAtMs });
    await keep([payment("seen-after")], { askedAtMs });
    const round = { name: "r1", startedAtMs };
    await payments.complete(full, { settled: true, knownUntilMs: 5, round }, SYNC_WRITER);
    await payments.complete(full, { settled: true, knownUntilMs: 5, round }, SYNC_WRITER);
    expect((await all()).map(({ entry, missingSinceMs }) => [entry.id, missingSinceMs !== null])).toEqual([
      ["goes", true],
      ["seen-after", false],
      ["stays", false],
    ]);
    expect(await payments.summary(name)).toEqual({ total: 2, byStatus: { none: 1, synced: 1 }, missing: 1 });
    expect(await payments.ground(name)).toEqual({ knownUntilMs: 5 });
    await keep([payment("goes")]);
    expect((await history("goes")).map(([what]) => what)).toEqual(["first-seen", "missing", "returned"]);
    expect(await payments.summary(name)).toMatchObject({ missing: 0 });
  });

  test("that has not settled marks nothing as missing", async () => {
    const { name, keep, sync } = connection();
    const full = sync("full");
    await payments.begin(full);
    await keep([payment("a")]);
    const round = { name: "r1", startedAtMs: (await payments.now()) + 1_000 };
    await payments.complete(full, { settled: false, knownUntilMs: undefined, round }, SYNC_WRITER);
    expect(await payments.summary(name)).toMatchObject({ total: 1, missing: 0 });
    expect(await payments.ground(name)).toEqual({});
  });

  test("removes the status of a payment that no status list has any more", async () => {
    const { name, keep, sync, all } = connection();
    const full = sync("full");
    await payments.begin(full);
    await keep([payment("a")], { round: "r0", status: "failed", askedAtMs: (await payments.now()) - 1 });
    const startedAtMs = await payments.now();
    for (const round of ["r1", "r2"]) {
      await keep([payment("a")], { round });
      await payments.compareRound(name, { name: round, startedAtMs }, reach);
    }
    await payments.complete(full, { settled: true, knownUntilMs: 1, round: { name: "r2", startedAtMs } }, SYNC_WRITER);
    expect(await all()).toMatchObject([{ syncStatus: null }]);
  });
});

test("a recent synchronisation advances the known position only once it has settled", async () => {
  const { name, sync } = connection();
  const ends = async (kind: "recent" | "full", settled: boolean, knownUntilMs: number) => {
    const one = sync(kind);
    await payments.begin(one);
    await payments.complete(one, { settled, knownUntilMs, round: undefined }, SYNC_WRITER);
    return (await payments.ground(name)).knownUntilMs;
  };
  expect(await ends("full", false, 5)).toBe(5);
  expect(await ends("recent", false, 7)).toBe(5);
  expect(await ends("recent", true, 8)).toBe(8);
});

test("what the last settled synchronisation left out is known until another one settles", async () => {
  const { name, sync } = connection();
  const ends = async (settled: boolean, leftOut: number[]) => {
    const one = sync("full");
    await payments.begin(one);
    await payments.complete(one, { settled, knownUntilMs: 5, leftOut, round: undefined }, SYNC_WRITER);
    return (await payments.ground(name)).leftOut;
  };
  expect(await ends(true, [2, 0, 1])).toEqual([2, 0, 1]);
  expect(await ends(false, [3])).toEqual([2, 0, 1]);
  expect(await ends(true, [])).toEqual([]);
});

test("the chain of an accounting connection verifies, and is separate from a compliance connection of the same name", async () => {
  const { name, keep } = connection();
  await keep([payment("a"), payment("b")]);
  const { rows } = await made.outside.query("select count from event_heads where connection = $1", [
    `accounting/${name}`,
  ]);
  expect(rows).toEqual([{ count: "2" }]);
});
