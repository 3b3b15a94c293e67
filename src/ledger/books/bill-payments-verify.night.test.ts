import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { BillPayment } from "../../contract/index.ts";
import { billPayment, someConnection } from "../test-support/bill-payments.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";

const test = ledgerOfSuite();

const LINES = [
  { amount: 0.1, allocatedOnDate: "2026-11-01", reference: "r", links: [{ billId: "bill", amount: 1e-7 }] },
  { amount: 1250 },
];

const idOf = (n: number): string => `bp ${String(n).padStart(4, "0")}`;

/** A connection with that many payments, each with three events, whose lines the first and last hundred have. */
async function withPayments(count: number) {
  const connection = someConnection(test.ledger);
  const payments = Array.from({ length: count }, (_, n) =>
    billPayment(idOf(n + 1), n % 200 < 100 ? { lines: LINES } : {}),
  );
  for (const status of [undefined, "pending", "synced"] as const)
    for (let at = 0; at < count; at += 100) await connection.keep(payments.slice(at, at + 100), { status });
  return connection;
}

/** As somebody would who owns the database. `$1` is the connection. */
const tamper = (statement: string, name: string) => test.outside.tamper(statement, [name]);

async function remove(id: string, name: string): Promise<void> {
  await test.outside.query("delete from bill_payments where connection = 'accounting/' || $1 and id = $2", [name, id]);
}

describe("the verification of bill payments", () => {
  it("finds nothing in unaltered rows, over several pages", async () => {
    const { verify } = await withPayments(401);
    expect(await verify()).toMatchObject({ billPayments: 401, findings: [], moreFindings: 0 });
  });

  it("finds nothing after whatever the synchronisations keep", async () => {
    const id = fc.constantFrom("a", "b", "c \0\ud800");
    const content = fc.record(
      {
        note: fc.string({ unit: "binary", maxLength: 3 }),
        totalAmount: fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
        date: fc.constantFrom("2026-11-01", "no date"),
        updatedAt: fc.constantFrom("2026-11-01T08:00:00.123Z", "no moment"),
        billRef: fc.constantFrom({ billCode: "B-1" }, null),
        lines: fc.array(fc.constantFrom(...LINES, {}), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    );
    const look = fc.record({
      payments: fc.array(fc.tuple(id, content), { minLength: 1, maxLength: 3 }),
      status: fc.constantFrom(undefined, "pending", "synced", "failed"),
      agoMs: fc.constantFrom(0, 0, 5),
      ends: fc.constantFrom(false, false, true),
    });
    const run = fc.asyncProperty(fc.array(look, { minLength: 1, maxLength: 8 }), async (looks) => {
      const { keep, sync, complete, verify } = someConnection(test.ledger);
      for (const { payments, status, agoMs, ends } of looks) {
        const now = await test.ledger.billPayments.now();
        const rows = payments.map(([of, more]): BillPayment => ({ ...billPayment(of), ...more }));
        await keep(rows, { status, askedAtMs: now - agoMs });
        if (!ends) continue;
        const full = sync("full");
        await test.ledger.billPayments.begin(full);
        await complete(full, { goneBeforeMs: now - 2 });
      }
      expect((await verify()).findings).toEqual([]);
    });
    await fc.assert(run, { numRuns: 25 });
  }, 60_000);

  it.each([
    [`bill_payments set body = body || '{"totalAmount":1250.11}'`, "body"],
    ["bill_payments set body = jsonb_set(body, '{lines,1,amount}', '1251')", "body"],
    ["bill_payments set sync_status = 'failed'", "sync_status"],
    ["bill_payments set sync_status = null", "sync_status"],
    ["bill_payments set missing_since = now()", "missing_since"],
    ["bill_payments set run_id = 'another'", "run_id"],
  ])("finds the alteration: update %s", async (change, column) => {
    const { name, verify } = await withPayments(3);
    await tamper(`update ${change} where connection = 'accounting/' || $1 and id = 'bp 0002'`, name);
    const subject = "bill payment bp 0002";
    expect((await verify()).findings).toEqual([
      { kind: "row-changed", table: "bill_payments", subject, row: subject, columns: [column] },
    ]);
  });

  it.each([
    [
      "update bill_payments set event_number = 1, sync_status = null where connection = 'accounting/' || $1",
      { kind: "row-behind", table: "bill_payments", event: 1, last: 3 },
    ],
    [
      "update events set content = 'no JSON' where connection = 'accounting/' || $1 and number = 3",
      { kind: "row-unproven", table: "bill_payments", event: 3 },
    ],
    [
      "delete from events where connection = 'accounting/' || $1 and number = 3",
      { kind: "row-behind", table: "bill_payments", event: 3, last: 2 },
    ],
  ])("finds the alteration: %s", async (statement, finding) => {
    const { name, verify } = await withPayments(1);
    await tamper(statement, name);
    const ofRows = (await verify()).findings.filter(({ kind }) => kind.startsWith("row-"));
    expect(ofRows).toMatchObject([{ subject: "bill payment bp 0001", ...finding }]);
  });

  it("finds a payment whose missing mark was removed without an event", async () => {
    const { name, sync, complete, verify } = await withPayments(1);
    await complete(sync("full"), { goneBeforeMs: (await test.ledger.billPayments.now()) + 1 });
    expect((await verify()).findings).toEqual([]);
    await tamper("update bill_payments set missing_since = null where connection = 'accounting/' || $1", name);
    expect((await verify()).findings).toMatchObject([{ kind: "row-changed", columns: ["missing_since"] }]);
  });

  it("finds a row without an event", async () => {
    const { name, verify } = await withPayments(1);
    await tamper("update bill_payments set id = 'made up' where connection = 'accounting/' || $1", name);
    expect((await verify()).findings).toEqual([
      { kind: "row-behind", table: "bill_payments", subject: "bill payment made up", event: 3, last: null },
      { kind: "row-missing", table: "bill_payments", subject: "bill payment bp 0001", row: "bill payment bp 0001" },
    ]);
  });

  it.each([
    ["first", 1],
    ["middle", 200],
    ["last", 401],
  ])("finds that the %s row was deleted", async (_which, n) => {
    const { name, verify } = await withPayments(401);
    await remove(idOf(n), name);
    const subject = `bill payment ${idOf(n)}`;
    expect(await verify()).toMatchObject({
      billPayments: 400,
      findings: [{ kind: "row-missing", table: "bill_payments", subject, row: subject }],
      moreFindings: 0,
    });
  });

  it("counts what it does not list", async () => {
    const { name, verify } = await withPayments(1_100);
    await test.outside.query("delete from bill_payments where connection = 'accounting/' || $1", [name]);
    const { findings, moreFindings } = await verify();
    expect([
      findings.length,
      new Set(findings.map((finding) => "subject" in finding && finding.subject)).size,
      moreFindings,
    ]).toEqual([1_000, 1_000, 100]);
  });
});
