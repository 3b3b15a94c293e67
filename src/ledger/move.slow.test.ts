import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { LedgerError, openLedger } from "./index.ts";
import { TABLES } from "./tables.ts";
import { billPayment, someConnection } from "./test-support/bill-payments.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";
import { APPLIED, bookMovement, firstTry } from "./test-support/movements.ts";
import { businessWithPurchases, purchaseOf } from "./test-support/purchases.ts";
import { by, keepRecord, recordOf, someBusiness, WRITER } from "./test-support/records.ts";

let from: TestLedger;
let to: TestLedger;
beforeAll(async () => {
  [from, to] = [await createTestLedger(), await createTestLedger()];
});
afterAll(async () => {
  await from.drop();
  await to.drop();
});

/** Every row as text, so that no number is the same but for its digits. */
async function rowsOf({ outside }: TestLedger): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const name of Object.keys(TABLES)) {
    const { rows } = await outside.query(`select row_to_json(t)::text as row from ${name} as t order by 1`);
    all[name] = rows.map(({ row }) => String(row));
  }
  return all;
}

describe("a ledger that is moved", () => {
  it("is refused while another process uses it, and where the other database has rows", async () => {
    const other = openLedger({ url: from.url, home: "/nowhere" });
    await other.stock.take(firstTry());
    await expect(from.ledger.moveTo(to.ownerUrl, () => undefined)).rejects.toThrow("stop all workers");
    await other.close();
    const full = await createTestLedger();
    onTestFinished(() => full.drop());
    await full.ledger.stock.take(firstTry());
    await expect(from.ledger.moveTo(full.ownerUrl, () => undefined)).rejects.toThrow(LedgerError);
    // Nothing of it is there, and the old one is used on.
    expect((await from.ledger.place()).knownServer).toMatch(/\/1$/);
  });

  it("has every row of every table, to the digit, and goes on there alone", async () => {
    const used = openLedger({ url: from.url, home: "/nowhere", operationTimeoutMs: 60_000 });
    const business = someBusiness();
    const numbers = Array.from({ length: 501 }, (_, n) => `INV-${n} "ä"\n😀`);
    for (const number of numbers.slice(0, 2)) await keepRecord(used, business, recordOf(number));
    const opened = { type: "sale", stage: "resolving-items", startedAtMs: 0, date: "2026-11-29" } as const;
    const open = (number: string) => used.documents.openNew(business, { ...opened, number }, by(WRITER));
    await Promise.all(numbers.slice(2).map(open));
    await bookMovement(
      used.stock,
      business,
      { type: "sale", number: "INV-1" },
      { ...movement, state: "applied", referenceId: "INV-1/a/sold" },
    );
    const purchases = businessWithPurchases(used);
    const sync = purchases.sync("full");
    await purchases.keep([purchaseOf("a"), purchaseOf("b", { totals: { subtotal: 0.1, vat: 1e-7, total: 12e20 } })]);
    await purchases.complete(sync);
    await someConnection(used).keep([billPayment("p")]);
    await used.acceptPlace(1_700_000_000_000);
    await used.close();
    const before = await rowsOf(from);
    const told: string[] = [];
    const moved = await from.ledger.moveTo(to.ownerUrl, (table, rows) => told.push(`${table} ${rows}`));
    expect(moved).toMatchObject({ documents: 501, purchases: 2, bill_payments: 1 });
    expect(told).toContain("documents 500");
    expect(await rowsOf(to)).toEqual(before);

    const seen = await to.ledger.place();
    const [there, here] = [to, from].map(({ url }) => openLedger({ url, home: "/nowhere", seen: async () => seen }));
    onTestFinished(async () => {
      await there?.close();
      await here?.close();
    });
    // Orders go on, and claims hold.
    const next = firstTry();
    expect(await there?.stock.take({ ...next, scheduledAtMs: Date.now() })).toEqual({ kind: "taken" });
    expect(await there?.stock.settle({ ...next, outcome: APPLIED })).toBe("settled");
    const { rows } = await to.outside.query("select reference_id from movements order by taken_order desc limit 1");
    expect(rows).toEqual([{ reference_id: next.referenceId }]);
    await expect(here?.stock.take(firstTry())).rejects.toThrow("was moved to another server");
  });
});

describe("a move that dies", () => {
  let source: TestLedger;
  let target: TestLedger;
  beforeAll(async () => {
    [source, target] = [await createTestLedger(), await createTestLedger()];
    await source.ledger.stock.take(firstTry());
  });
  afterAll(async () => {
    await source.drop();
    await target.drop();
  });
  const move = () => source.ledger.moveTo(target.ownerUrl, () => undefined);

  it("before the new database is accepted leaves no old one that workers still take", async () => {
    const place = await source.ledger.place();
    await target.outside.query(`
      create function die() returns trigger language plpgsql as $$ begin raise exception 'it dies here'; end $$;
      create trigger dies before update on ledger_place for each row execute function die()`);
    await expect(move()).rejects.toThrow("it dies here");
    const old = openLedger({ url: source.url, home: "/nowhere", seen: async () => place });
    onTestFinished(() => old.close());
    await expect(old.stock.take(firstTry())).rejects.toThrow("was moved to another server");
  });

  it("says which of both to use when it is repeated", async () => {
    await expect(move()).rejects.toThrow(/was moved to this database already: set LEDGER_URL to it, and run/);
    await source.ledger.acceptPlace();
    await source.ledger.stock.take(firstTry());
    await expect(move()).rejects.toThrow(
      /has a copy of this ledger \(events: 1; .* has 2\).*If no worker has used the copy/,
    );
  });
});

const movement = { purpose: "sold", action: "DEDUCT", itemId: "a", quantity: 2.5, unitPrice: 0.1 } as const;
