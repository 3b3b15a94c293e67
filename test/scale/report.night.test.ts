import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { LIST_OF_DOCUMENTS } from "../../src/cli/lists/documents.ts";
import { renderCsv } from "../../src/cli/lists/period-list.ts";
import { createComplianceClient, parseDialect } from "../../src/compliance/index.ts";
import type { SaleDocument } from "../../src/contract/index.ts";
import { type Simulator, startSimulator } from "../../src/dev/simulator/index.ts";
import { seededRandom } from "../../src/dev/simulator/seeded-random.ts";
import { createDispatchers, createTransport, type OwnedDispatchers } from "../../src/http/transport.ts";
import { type BusinessReport, type Ledger, openLedger, type Period } from "../../src/ledger/index.ts";
import { keepRecord, recordOf, WRITER } from "../../src/ledger/test-support/records.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { FULL_SIZE } from "../rig/patience.ts";
import { inCents, inUnits, sumsOf, taxOf } from "./book-sums.ts";
import { generatedDocuments } from "./generated-documents.ts";

const DOCUMENTS = FULL_SIZE ? 5_000 : 1_200;
const BUSINESS = { connection: "default", businessId: "biz_1" };
const NOVEMBER: Period = { kind: "month", from: "2026-11-01", to: "2026-11-30" };

describe(`reports of ${DOCUMENTS} generated sales and credit notes`, () => {
  let simulator: Simulator;
  let dispatchers: OwnedDispatchers;
  let ledger: Ledger;
  beforeAll(async () => {
    simulator = await startSimulator({ limitPerWindow: 1_000_000 });
    dispatchers = createDispatchers();
    ledger = openLedger({ url: await freshDatabase(inject("ledgerServerUrl")), home: "/nowhere" });
    await ledger.ready();
    const client = createComplianceClient({
      baseUrl: simulator.url,
      apiKey: { reveal: () => "cmp_sk_test_simulator" },
      keyReach: "organisation",
      dialect: parseDialect({}),
      transport: createTransport(dispatchers),
    });
    for await (const document of generatedDocuments({ client, simulator }, seededRandom(20_261_121), DOCUMENTS))
      await keepRecord(ledger, BUSINESS, recordFor(document), WRITER);
  });
  afterAll(async () => {
    await ledger?.close();
    await dispatchers?.close();
    await simulator?.close();
  });

  function recordFor(document: SaleDocument) {
    const type = document.type === "sale" ? "sale" : "credit_note";
    const stage = document.status === "completed" ? "completed" : "awaiting-authority";
    return recordOf(document.traderInvoiceNumber, { type, stage, document, movements: [] });
  }

  async function reportOf(period: Period): Promise<BusinessReport | undefined> {
    const [report] = await ledger.reports.read({ period });
    return report;
  }

  const amounts = (one: BusinessReport["net"] | undefined) => ({
    count: one?.count,
    total: inCents(one?.total ?? ""),
    taxableAmount: inCents(one?.taxableAmount ?? ""),
    taxAmount: inCents(one?.taxAmount ?? ""),
  });

  test("equal the simulator's books for the month, to the cent", async () => {
    const { documents } = simulator.books();
    expect(documents).toHaveLength(DOCUMENTS);
    expect(new Set(documents.map(({ status }) => status)).size).toBeGreaterThan(2);
    const report = await reportOf(NOVEMBER);
    expect(amounts(report?.sales)).toEqual(sumsOf(documents, "sale", NOVEMBER.from, NOVEMBER.to));
    expect(amounts(report?.creditNotes)).toEqual(sumsOf(documents, "credit_note", NOVEMBER.from, NOVEMBER.to));
    expect(amounts(report?.net)).toEqual(sumsOf(documents, "both", NOVEMBER.from, NOVEMBER.to));
    expect(report?.creditNotes.count).toBeGreaterThan(DOCUMENTS / 10);
  });

  test("equal the books for each day, and the days add up to the month", async () => {
    const { documents } = simulator.books();
    const days = Array.from({ length: 30 }, (_, day) => `2026-11-${String(day + 1).padStart(2, "0")}`);
    for (const day of days) {
      const report = await reportOf({ kind: "day", from: day, to: day });
      expect(amounts(report?.net)).toEqual(sumsOf(documents, "both", day, day));
    }
    const { course = [] } = (await reportOf(NOVEMBER)) ?? {};
    expect(course.map(({ at, sales }) => [at, inCents(sales)])).toEqual(
      days.map((day) => [day, sumsOf(documents, "sale", day, day).total]),
    );
  });

  test("equal the books' lines for each tax rate", async () => {
    const report = await reportOf(NOVEMBER);
    const byRate = (report?.taxes ?? []).map(({ taxRate, taxTypeCode, net }) => [
      `${taxRate} ${taxTypeCode}`,
      inCents(net.taxAmount),
    ]);
    expect(Object.fromEntries(byRate)).toEqual(taxOf(simulator.books().documents, NOVEMBER.from, NOVEMBER.to));
    expect(byRate.length).toBeGreaterThan(2);
  });

  test("equal the books of buyers with a PIN and of those without, which add up to the month and to each rate", async () => {
    const report = await reportOf(NOVEMBER);
    if (!report) throw new Error("the ledger has a business");
    const { withPin, withoutPin } = report.buyers;
    const { documents } = simulator.books();
    const { from, to } = NOVEMBER;
    const [having, lacking] = [true, false].map((has) =>
      documents.filter(({ customer }) => Boolean(customer?.pin) === has),
    );
    for (const [figures, of = []] of [[withPin, having] as const, [withoutPin, lacking] as const]) {
      expect(amounts(figures.sales)).toEqual(sumsOf(of, "sale", from, to));
      expect(amounts(figures.creditNotes)).toEqual(sumsOf(of, "credit_note", from, to));
      expect(amounts(figures.net)).toEqual(sumsOf(of, "both", from, to));
      const rates = figures.taxes.map(({ taxRate, taxTypeCode, net }) => [`${taxRate} ${taxTypeCode}`, net.taxAmount]);
      expect(Object.fromEntries(rates.map(([rate, tax = ""]) => [rate, inCents(tax)]))).toEqual(taxOf(of, from, to));
      expect(figures.sales.count).toBeGreaterThan(DOCUMENTS / 5);
    }
    const sum = (of: readonly string[]): string => inUnits(of.map(Number));
    for (const kind of ["sales", "creditNotes", "net"] as const) {
      const [whole, one, other] = [report[kind], withPin[kind], withoutPin[kind]];
      expect(one.count + other.count).toBe(whole.count);
      for (const field of ["total", "taxableAmount", "taxAmount"] as const)
        expect(sum([one[field], other[field]])).toBe(inCents(whole[field]));
    }
  });

  test("equal the sums of the listed documents, each listed once", async () => {
    const report = await reportOf(NOVEMBER);
    const { from, to } = NOVEMBER;
    let csv = "";
    const listed = await ledger.reports.documents({ days: { from, to } }, async (businesses) => {
      for await (const piece of renderCsv(
        LIST_OF_DOCUMENTS,
        { days: { from, to }, madeAtMs: 0, standing: undefined, sellerOf: () => undefined },
        businesses,
      ))
        csv += piece;
      return businesses.map(({ pages: _pages, ...figures }) => figures);
    });
    const {
      open: _open,
      moreOpen: _more,
      openByCode: _codes,
      atRisk: _risk,
      payments: _by,
      course: _at,
      notInCourse: _elsewhen,
      movements: _of,
      ended: _ended,
      ...figures
    } = report ?? {};
    expect(listed).toMatchObject([figures]);
    // No text of these documents holds a comma.
    const [head = "", ...lines] = csv.trimEnd().split("\r\n");
    const names = head.split(",");
    const rows = lines.map((line) => Object.fromEntries(line.split(",").map((value, n) => [names[n], value])));
    expect(new Set(rows.map(({ document_id: id }) => id)).size).toBe(DOCUMENTS);
    const sum = (column: string, type?: string): string =>
      inUnits(rows.filter((row) => type === undefined || row["type"] === type).map((row) => Number(row[column])));
    for (const [type, told] of [
      ["sale", report?.sales],
      ["credit_note", report?.creditNotes],
      [undefined, report?.net],
    ] as const) {
      expect({ total: sum("total", type), taxable: sum("taxable", type), tax: sum("tax", type) }).toEqual({
        total: inCents(told?.total ?? ""),
        taxable: inCents(told?.taxableAmount ?? ""),
        tax: inCents(told?.taxAmount ?? ""),
      });
    }
    for (const { taxRate, taxTypeCode, net } of report?.taxes ?? []) {
      expect([
        taxRate,
        sum(`taxable_${taxTypeCode}_${Number(taxRate)}`),
        sum(`tax_${taxTypeCode}_${Number(taxRate)}`),
      ]).toEqual([taxRate, inCents(net.taxableAmount), inCents(net.taxAmount)]);
    }
    const amounts = names.filter((name) => /^(taxable|tax|total|not_signed_total)/.test(name));
    for (const row of rows) for (const name of amounts) expect(row[name]).toMatch(/^$|^-?\d+\.\d\d$/);
  });

  test("list as open what the authority has not decided, with the money at risk", async () => {
    const waiting = simulator.books().documents.filter(({ status }) => status !== "completed");
    const report = await reportOf(NOVEMBER);
    expect((report?.open.length ?? 0) + (report?.moreOpen ?? 0)).toBe(waiting.length);
    const cents = waiting.reduce((sum, { totals }) => sum + BigInt(Math.round(totals.total * 100)), 0n);
    expect(inCents(report?.atRisk ?? "").replace(".", "")).toBe(String(cents));
  });

  test("are of a ledger that verifies", async () => {
    for await (const chain of ledger.verify()) {
      expect(chain).toMatchObject({ documents: DOCUMENTS, findings: [] });
      // Each is opened and answered; a run also notes the stage of some.
      expect(chain.events).toBeGreaterThanOrEqual(2 * DOCUMENTS);
    }
  });
});
