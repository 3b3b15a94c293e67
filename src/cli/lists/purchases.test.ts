import { describe, expect, it } from "vitest";

import type { Purchase, PurchaseLine } from "../../contract/index.ts";
import type { ListedPurchase } from "../../ledger/index.ts";
import { ledgerOfSuite } from "../../ledger/test-support/create-test-ledger.ts";
import { businessWithPurchases, purchaseOf } from "../../ledger/test-support/purchases.ts";
import { callCli, type CliResult } from "../test-support/call-cli.ts";
import { csvRows } from "../test-support/csv-rows.ts";

const test = ledgerOfSuite();

const purchases = (...argv: string[]): Promise<CliResult> =>
  callCli(["purchases", ...argv], { env: { LEDGER_URL: test.url } });

function line(taxRate: number, taxAmount: number, total: number): PurchaseLine {
  return { description: "Flour", hsCode: null, quantity: 1, unitPrice: total, taxRate, taxAmount, total };
}

const MIXED: Partial<Purchase> = {
  status: "confirmed",
  invoiceDate: "2026-11-20",
  supplier: { name: '=HYPERLINK("x")', pin: "P051234567Z" },
  totals: { subtotal: 1200.1, vat: 104.3, total: 1304.4 },
  lines: [line(16, 0.1, 0.7), line(16, 0.2, 0.6), line(8, 104, 1404)],
};

/** What an accountant meets in a month: the usual, and each thing that is not to be taken as it is. */
async function november(): Promise<string> {
  const { scope, sync, keep, complete } = businessWithPurchases(test.ledger);
  const full = sync("full");
  await keep([purchaseOf("gone", { invoiceDate: "2026-11-02", status: "confirmed" })]);
  const goneBeforeMs = (await test.ledger.purchases.now()) + 1;
  await keep(
    [
      purchaseOf("mixed", MIXED),
      purchaseOf("twice-1", { supplierInvoiceNumber: "S-2", supplier: { name: "Mill", pin: "P051111111A" } }),
      purchaseOf("twice-2", { supplierInvoiceNumber: "S-2", supplier: { name: "Mill", pin: "P051111111A" } }),
      purchaseOf("october", { invoiceDate: "2026-10-31" }),
      ...["30/11/2026", "2026-11-31", "0000-00-00", "2026-13-45"].map((invoiceDate, index) =>
        purchaseOf(`undated-${index + 1}`, { invoiceDate }),
      ),
      purchaseOf("half", { invoiceDate: "2026-11-29", lines: [line(16, 0.1, 0.7), line(7.5, 0.5, 5e-8)] }),
      purchaseOf("refused", { invoiceDate: "2026-11-30", confirmationError: "No such branch." }),
    ],
    { askedAtMs: goneBeforeMs },
  );
  await test.ledger.purchases.begin(full);
  await complete(full, { goneBeforeMs });
  return scope.businessId;
}

const NOVEMBER = ["month", "--date", "2026-11", "--business"];

describe("fiscalflow purchases month", () => {
  it("gives a CSV in which every purchase of the month is a line, with what the API shows of it", async () => {
    const said = await purchases(...NOVEMBER, await november(), "--format", "csv");
    expect(said.exitCode).toBe(0);
    const rows = csvRows(said.stdout, "purchase_id");
    expect(Object.keys(rows)).toEqual(["twice-1", "twice-2", "gone", "mixed", "half", "refused"]);
    expect(rows["mixed"]).toEqual({
      connection: "default",
      business: rows["gone"]?.["business"],
      invoice_number: "S-mixed",
      date: "2026-11-20",
      supplier_name: `'=HYPERLINK("x")`,
      supplier_pin: "P051234567Z",
      branch: "Main",
      status: "confirmed",
      subtotal: "1200.10",
      vat: "104.30",
      total: "1304.40",
      confirmation_error: "",
      purchase_id: "mixed",
      more_than_once: "no",
      missing_since: "",
      altered: "no",
      line_total_16: "1.30",
      vat_16: "0.30",
      line_total_8: "1404.00",
      vat_8: "104.00",
      "line_total_7.5": "0.00",
      "vat_7.5": "0.00",
      made_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/),
    });
    expect(rows["gone"]).toMatchObject({ vat: "16.02", vat_16: "", line_total_8: "" });
    expect(rows["gone"]?.["missing_since"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/);
    expect(rows["twice-1"]).toMatchObject({ more_than_once: "yes", missing_since: "" });
    expect(rows["refused"]).toMatchObject({ confirmation_error: "No such branch." });
  });

  it("says below the table what each status comes to, and what is to be looked at", async () => {
    const businessId = await november();
    const { stdout } = await purchases(...NOVEMBER, businessId);
    expect(stdout.split("\n")[0]).toMatch(
      /^\S+ \(connection default\), purchases of 2026-11-01 to 2026-11-30, whole list as of \d{4}-\d\d-\d\d \d\d:\d\d EAT$/,
    );
    expect(stdout).toMatch(
      /^2026-11-20 +S-mixed .* P051234567Z +1,200\.10 +104\.30 +1,304\.40 +confirmed +16 %: 0\.30, 8 %: 104\.00$/m,
    );
    expect(stdout).toMatch(/^2026-11-02 +S-gone .* no longer listed since 20\d\d-\d\d-\d\d \d\d:\d\d EAT$/m);
    expect(stdout).toMatch(/^2026-11-30 +S-refused .* confirmation error: No such branch\.$/m);
    expect(stdout).toMatch(/^confirmed +1 +1,200\.10 +104\.30 +1,304\.40$/m);
    expect(stdout).toMatch(/^pulled +4 +400\.40 +64\.08 +464\.48$/m);
    expect(stdout).toMatch(
      /^STATUS +RATE +COUNT +VAT +TOTAL OF LINES\nconfirmed +16 % +1 +0\.30 +1\.30\nconfirmed +8 % +1 +104\.00 +1,404\.00\npulled +16 % +1 +0\.10 +0\.70\npulled +7\.5 % +1 +0\.50 +0\.00000005\n$/m,
    );
    expect(stdout).toMatch(/^confirmed, no longer listed +1 +100\.10 +16\.02 +116\.12$/m);
    expect(stdout).toContain("Note: Listed here and no longer by the service, so with sums of their own: 1.");
    expect(stdout).toContain(
      'Note: Without a date that exists, written YYYY-MM-DD, so in no list: 4. The first: "undated-1".',
    );
    expect(stdout).toContain("Note: Listed with the supplier's PIN and the number of another one: 2. ");
    const csv = await purchases(...NOVEMBER, businessId, "--format", "csv");
    expect(csv.stderr).toMatch(/, whole list as of 20\d\d-\d\d-\d\d \d\d:\d\d EAT$/m);
    expect(csv.stderr).toContain(
      'Note: Without a date that exists, written YYYY-MM-DD, so in no list: 4. The first: "undated-1".',
    );
  });

  it("has the same in JSON, with exact amounts and times with their offset", async () => {
    const businessId = await november();
    const { stdout } = await purchases(...NOVEMBER, businessId, "--json");
    const { period, madeAt, standing, businesses } = JSON.parse(stdout);
    expect(madeAt).toMatch(/\+03:00$/);
    expect([null, "The month is not over: its figures are not final."]).toContain(standing);
    const [{ purchases: listed, syncedAt, ...figures }] = businesses;
    expect(period).toEqual({ from: "2026-11-01", to: "2026-11-30" });
    expect(syncedAt).toMatch(/\+03:00$/);
    expect(figures).toMatchObject({ connection: "default", businessId, altered: 0, undated: 4, moreThanOnce: 2 });
    expect(figures.sums[0]).toEqual({
      status: "confirmed",
      missing: false,
      count: 1,
      subtotal: "1200.1",
      vat: "104.3",
      total: "1304.4",
    });
    expect(figures.rateSums.slice(0, 3)).toEqual([
      { status: "confirmed", missing: false, taxRate: "16", count: 1, vat: "0.3", lineTotal: "1.3" },
      { status: "confirmed", missing: false, taxRate: "8", count: 1, vat: "104", lineTotal: "1404" },
      { status: "pulled", missing: false, taxRate: "16", count: 1, vat: "0.1", lineTotal: "0.7" },
    ]);
    expect(listed.find(({ purchaseId }: ListedPurchase) => purchaseId === "mixed")).toMatchObject({
      vat: "104.3",
      rates: [
        { taxRate: "16", vat: "0.3", lineTotal: "1.3" },
        { taxRate: "8", vat: "104", lineTotal: "1404" },
      ],
      missingSince: null,
      altered: false,
    });
    expect(stdout).not.toMatch(/Ms"/);
  });

  it("marks a purchase that somebody has altered in the ledger", async () => {
    const businessId = await november();
    const alter = (what: string, id: string): Promise<void> =>
      test.outside.tamper(`update purchases set ${what} where business_id = $1 and id = $2`, [businessId, id]);
    await alter("body = jsonb_set(body, '{totals,vat}', '1104.3')", "mixed");
    await alter(`body = body || '{"lines":"none"}'`, "refused");
    const { stdout } = await purchases(...NOVEMBER, businessId);
    expect(stdout).toMatch(/^2026-11-20 +S-mixed .* 1,104\.30 .* confirmed +- +altered in the ledger$/m);
    expect(stdout).toMatch(/^2026-11-30 +S-refused .* altered in the ledger, confirmation error: No such branch\.$/m);
    expect(stdout).toContain("Note: Altered in the ledger, so not as its events say: 2. See: fiscalflow ledger verify");
    expect(stdout).not.toMatch(/^confirmed +16 %/m);
    expect(stdout).toMatch(/^pulled +16 % +1 +0\.10 +0\.70$/m);
    const rows = csvRows((await purchases(...NOVEMBER, businessId, "--format", "csv")).stdout, "purchase_id");
    expect(rows["mixed"]).toMatchObject({ altered: "yes", vat_16: "" });
    expect(rows["gone"]).toMatchObject({ altered: "no" });
  });

  it("says apart when the whole list was read, and when what is new", async () => {
    const { scope, sync, keep, complete } = businessWithPurchases(test.ledger);
    const run = async (kind: "recent" | "full" | "window"): Promise<[string, string]> => {
      const one = sync(kind);
      await test.ledger.purchases.begin(one);
      await keep([purchaseOf("one")]);
      await complete(one, { knownUntilMs: await test.ledger.purchases.now() });
      const argv = ["day", "--date", "2026-11-01", "--business", scope.businessId];
      const [of] = JSON.parse((await purchases(...argv, "--json")).stdout).businesses;
      return [of.syncedAt, of.newestSyncedAt];
    };
    expect(await run("window")).toEqual([null, null]);
    // It finds nothing known, and so reads all.
    const first = await run("recent");
    expect(first).toEqual([expect.stringMatching(/\+03:00$/), first[0]]);
    await test.outside.tamper(
      "update syncs set started_at = '2026-11-01T03:00:00Z', completed_at = '2026-11-01T04:00:00Z' where business_id = $1",
      [scope.businessId],
    );
    const [whole, newest] = await run("recent");
    expect(whole).toBe("2026-11-01T06:00:00+03:00");
    expect(newest > whole).toBe(true);
    const table = await purchases("day", "--date", "2026-11-01", "--business", scope.businessId);
    expect(table.stdout.split("\n")[0]).toMatch(
      /, whole list as of 2026-11-01 06:00 EAT, what is new as of 20\d\d-\d\d-\d\d \d\d:\d\d EAT$/,
    );
    const [full, same] = await run("full");
    expect([full > whole, same]).toEqual([true, full]);
  });

  it("says where no synchronisation has read all of them", async () => {
    const { scope, keep } = businessWithPurchases(test.ledger);
    await keep([purchaseOf("one")]);
    const { stdout } = await purchases("day", "--date", "2026-11-01", "--business", scope.businessId);
    expect(stdout.split("\n")[0]).toContain("never read as a whole");
    expect(stdout).toContain("Note: No synchronisation has read them all yet, so some may be missing.");
  });

  it("refuses a business that nobody knows", async () => {
    await november();
    const said = await purchases(...NOVEMBER, "biz_nobody");
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toContain('Neither the ledger nor the configuration has a business "biz_nobody".');
  });
});
