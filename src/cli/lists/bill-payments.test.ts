import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../../ledger/test-support/create-test-ledger.ts";
import { billPayment, someConnection } from "../../ledger/test-support/bill-payments.ts";
import { callCli, type CliResult } from "../test-support/call-cli.ts";
import { csvRows } from "../test-support/csv-rows.ts";

const test = ledgerOfSuite();

const billPayments = (...argv: string[]): Promise<CliResult> =>
  callCli(["bill-payments", ...argv], { env: { LEDGER_URL: test.url } });

/** What an accountant meets in a month: the usual, and each thing that is not to be taken as it is. */
async function november(): Promise<string> {
  const { name, keep, sync, complete } = someConnection(test.ledger);
  const full = sync("full");
  await test.ledger.billPayments.begin(full);
  await keep([billPayment("gone", { date: "2026-11-02", totalAmount: 10 })]);
  const startedAtMs = (await test.ledger.billPayments.now()) + 1;
  const usual = billPayment("usual", {
    date: "2026-11-20",
    billPaymentCode: "BP-1",
    supplierRef: { id: "s1", name: "Mill" },
    accountRef: { id: "a1", name: "Bank" },
    paymentMethodRef: { id: "m1", name: "M-Pesa" },
    billRef: { id: "b1", billCode: "S-1" },
    note: "first half",
  });
  const rows = [
    usual,
    billPayment("dollars", { date: "2026-11-21", totalAmount: 0.1, currency: "USD", currencyRate: 129.5 }),
    billPayment("unstated", { date: "2026-11-22", totalAmount: null }),
    billPayment("october", { date: "2026-10-31" }),
    billPayment("undated"),
    billPayment("no-day", { date: "2026-11-31" }),
    billPayment("zero", { date: "0000-00-00" }),
  ];
  await keep(rows, { askedAtMs: startedAtMs });
  await keep([usual], { askedAtMs: startedAtMs, status: "synced" });
  await complete(full, { knownUntilMs: startedAtMs, goneBeforeMs: startedAtMs });
  return name;
}

const NOVEMBER = ["month", "--date", "2026-11", "--connection"];

describe("fiscalflow bill-payments month", () => {
  it("gives a CSV in which every payment of the month is a line, with what the service shows of it", async () => {
    const connection = await november();
    const said = await billPayments(...NOVEMBER, connection, "--format", "csv");
    expect(said.exitCode).toBe(0);
    const rows = csvRows(said.stdout, "bill_payment_id");
    expect(Object.keys(rows)).toEqual(["gone", "usual", "dollars", "unstated"]);
    expect(rows["usual"]).toEqual({
      connection,
      date: "2026-11-20",
      code: "BP-1",
      bill_code: "S-1",
      supplier_name: "Mill",
      account_name: "Bank",
      payment_method_name: "M-Pesa",
      currency: "KES",
      currency_rate: "",
      total_amount: "1250.10",
      sync_status: "synced",
      note: "first half",
      bill_payment_id: "usual",
      bill_id: "b1",
      supplier_id: "s1",
      account_id: "a1",
      payment_method_id: "m1",
      missing_since: "",
      altered: "no",
      made_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/),
    });
    expect(said.stderr).toMatch(/, whole list as of 20\d\d-\d\d-\d\d \d\d:\d\d EAT$/m);
    expect(rows["dollars"]).toMatchObject({ currency: "USD", currency_rate: "129.5", total_amount: "0.10" });
    expect(rows["unstated"]).toMatchObject({ total_amount: "", sync_status: "" });
    expect(rows["gone"]?.["missing_since"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/);
  });

  it("says below the table what each currency comes to, and what is to be looked at", async () => {
    const connection = await november();
    await test.outside.tamper(
      `update bill_payments set body = body || '{"totalAmount":9999}' where connection = 'accounting/' || $1 and id = 'dollars'`,
      [connection],
    );
    const { stdout } = await billPayments(...NOVEMBER, connection);
    expect(stdout.split("\n")[0]).toMatch(
      /^Bill payments of 2026-11-01 to 2026-11-30 \(accounting connection \S+\), whole list as of \d{4}-\d\d-\d\d \d\d:\d\d EAT$/,
    );
    expect(stdout).toMatch(/^2026-11-20 +BP-1 +S-1 +Mill +M-Pesa +KES +1,250\.10 +synced$/m);
    expect(stdout).toMatch(/^2026-11-21 .* USD at 129\.5 +9,999\.00 +- +altered in the ledger$/m);
    expect(stdout).toMatch(/^DATE .* AMOUNT +SYNC STATUS +LOOK AT$/m);
    expect(stdout).toMatch(/^CURRENCY +SYNC STATUS +COUNT +AMOUNT$/m);
    expect(stdout).toMatch(/^KES +synced +1 +1,250\.10$/m);
    expect(stdout).toMatch(/^KES +-, no longer listed +1 +10\.00$/m);
    expect(stdout).toContain(
      'Note: Without a date that exists, written YYYY-MM-DD, so in no list: 3. The first: "no-day".',
    );
    expect(stdout).toContain("Note: Listed without an amount, so in no sum: 1.");
    expect(stdout).toContain("Note: Altered in the ledger, so not as its events say: 1.");
  });

  it("has the same in JSON", async () => {
    const connection = await november();
    const { madeAt, connections } = JSON.parse((await billPayments(...NOVEMBER, connection, "--json")).stdout);
    expect(madeAt).toMatch(/\+03:00$/);
    const [{ billPayments: listed, sums, ...figures }] = connections;
    expect(figures).toEqual({
      connection,
      syncedAt: expect.stringMatching(/\+03:00$/),
      newestSyncedAt: figures.syncedAt,
      altered: 0,
      undated: 3,
      firstUndated: "no-day",
    });
    expect(sums).toContainEqual({
      currency: "KES",
      syncStatus: "synced",
      missing: false,
      count: 1,
      withoutAmount: 0,
      totalAmount: "1250.1",
    });
    expect(listed.map(({ totalAmount }: { totalAmount: string | null }) => totalAmount)).toEqual([
      "10",
      "1250.1",
      "0.1",
      null,
    ]);
  });

  it("takes a list as read as a whole only by a synchronisation that settled", async () => {
    const { name, keep, sync, complete } = someConnection(test.ledger);
    await keep([billPayment("one", { date: "2026-11-02" })]);
    const run = async (kind: "recent" | "full", settled: boolean): Promise<[string | null, string | null]> => {
      const one = sync(kind);
      await test.ledger.billPayments.begin(one);
      const knownUntilMs = await test.ledger.billPayments.now();
      await complete(one, { settled, knownUntilMs });
      const { connections } = JSON.parse((await billPayments(...NOVEMBER, name, "--json")).stdout);
      return [connections[0].syncedAt, connections[0].newestSyncedAt];
    };
    expect(await run("recent", false)).toEqual([null, null]);
    // It has nothing to build upon, and so reads all.
    const whole = await run("recent", true);
    expect(whole).toEqual([expect.stringMatching(/\+03:00$/), whole[0]]);
    await test.outside.tamper(
      "update syncs set started_at = '2026-11-01T03:00:00Z', completed_at = '2026-11-01T04:00:00Z' where connection = 'accounting/' || $1",
      [name],
    );
    const before = "2026-11-01T06:00:00+03:00";
    expect(await run("full", false)).toEqual([before, before]);
    expect((await run("recent", true))[0]).toBe(before);
  });

  it("refuses a connection that nobody knows", async () => {
    await november();
    const said = await billPayments(...NOVEMBER, "nowhere");
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toContain('Neither the ledger nor the configuration has an accounting connection "nowhere".');
  });
});
