import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { DocumentRecord, SaleDocument } from "../../contract/index.ts";
import { createTestLedger, type TestLedger } from "../../ledger/test-support/create-test-ledger.ts";
import type { ListedDocument } from "../../ledger/index.ts";
import { documentOf, keepRecord, recordOf, someBusiness, WRITER } from "../../ledger/test-support/records.ts";
import { callCli, type CliResult } from "../test-support/call-cli.ts";
import { csvRows } from "../test-support/csv-rows.ts";
import { taking } from "../../ledger/test-support/movements.ts";

const LINE = documentOf("any").lines[0];
const ENDED =
  "Sales and credit notes of this period that ended before they were known to have a document, so not listed; nothing carries them on";

let test: TestLedger;
let folder: string;
beforeAll(async () => {
  test = await createTestLedger(15_000);
  await test.ledger.ready();
  folder = await mkdtemp(join(tmpdir(), "documents-"));
});
afterAll(async () => {
  await test?.drop();
  await rm(folder, { recursive: true, force: true });
});

const documents = (...argv: string[]): Promise<CliResult> =>
  callCli(["documents", ...argv], { env: { LEDGER_URL: test.url } });

/** Where the business is configured. */
function configuredAs(businessId: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    LEDGER_URL: test.url,
    COMPLIANCE_BASE_URL: "https://compliance.example.com",
    COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
    COMPLIANCE_BUSINESS_ID: businessId,
    ...more,
  };
}

/** A line of this tax rate, without any binary fraction that is not two places. */
function lineOf(id: string, taxRate: number, taxTypeCode: string, taxableAmount: number, taxAmount: number) {
  const total = Math.round((taxableAmount + taxAmount) * 100) / 100;
  if (!LINE) throw new Error("a sample has lines");
  return { ...LINE, id, quantity: 1, unitPrice: total, total, taxableAmount, taxAmount, taxRate, taxTypeCode };
}

function signed(number: string, scuDate: string | null, more: Partial<SaleDocument> = {}): SaleDocument {
  return documentOf(number, {
    saleDate: "2025-11-20",
    lines: [lineOf("1", 16, "B", 603.62, 96.58), lineOf("2", 8, "E", 100, 8)],
    totals: { total: 808.2, taxableAmount: 703.62, taxAmount: 104.58 },
    receipt: { cuInvoiceNo: `CU/${number}`, scuDate },
    ...more,
  });
}

function noteOf(sale: SaleDocument, number: string, saleDate: string): SaleDocument {
  return signed(number, "24/11/2025", {
    type: "credit_note",
    saleDate,
    originalSaleId: sale.id,
    lines: [lineOf("1", 16, "B", -603.62, -96.58), lineOf("2", 8, "E", -100, -8)],
    totals: { total: -808.2, taxableAmount: -703.62, taxAmount: -104.58 },
    receipt: {
      cuInvoiceNo: `CU/${number}`,
      scuDate: "24/11/2025",
      originalCuInvoiceNo: `CU/${sale.traderInvoiceNumber}`,
    },
  });
}

/** What an accountant meets in a month: the usual, and each thing that is not to be taken as it is. */
async function november(): Promise<string> {
  const business = someBusiness();
  const save = async (document: SaleDocument | null, more: Parameters<typeof recordOf>[1] = {}): Promise<void> => {
    const number = more.number ?? document?.traderInvoiceNumber ?? "";
    const type = document?.type === "credit_note" ? "credit_note" : "sale";
    await keepRecord(
      test.ledger,
      business,
      recordOf(number, { type, document, date: "2025-11-20", movements: [], ...more }),
      WRITER,
    );
  };
  const usual = signed("INV-1", "20/11/2025", {
    customer: { name: '=HYPERLINK("x")', pin: "P000000001Z" },
    receipt: {
      cuInvoiceNo: "CU/INV-1",
      scuDate: "20/11/2025",
      scuTime: "14:05:59",
      receiptNumber: 7,
      receiptLabel: "NS",
    },
  });
  await save(usual);
  await save(noteOf(usual, "CN-1", "2025-11-24"), { refund: { reason: "03", traderInvoiceNumber: "CN-1" } });
  await save(signed("INV-LATE", "02/12/2025", { saleDate: "2025-11-30", customer: null }));
  await save(signed("INV-OCTOBER", "01/11/2025", { saleDate: "2025-10-31" }));
  await save(signed("INV-ODD", "2025-11-20"));
  const waiting = signed("INV-WAITS", null, { status: "pending", receipt: null });
  await save(waiting, { stage: "awaiting-authority" });
  await save(null, { number: "INV-NONE", stage: "submitting" });
  await save(null, { number: "INV-CANCELLED", stage: "cancelled" });
  return business.businessId;
}

/** What is sold before midnight is signed after it. */
async function nightShift() {
  const business = someBusiness();
  for (const [number, saleDate, scuDate] of [
    ["INV-DAY", "2025-11-20", "20/11/2025"],
    ["INV-NIGHT", "2025-11-20", "21/11/2025"],
    ["INV-EVE", "2025-11-19", "20/11/2025"],
  ] as const) {
    const document = signed(number, scuDate, { saleDate });
    await keepRecord(test.ledger, business, recordOf(number, { document, movements: [] }), WRITER);
  }
  return business;
}

const INSTANT = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/;
const rowsOf = (csv: string) => csvRows(csv, "number");

describe("fiscalflow documents", () => {
  it("gives a CSV in which every document is a line, and each column means one thing", async () => {
    const businessId = await november();
    const said = await documents("month", "--date", "2025-11", "--business", businessId, "--format", "csv");
    expect(said.exitCode).toBe(0);
    const rows = rowsOf(said.stdout);
    expect(Object.keys(rows)).toEqual(["INV-1", "INV-ODD", "INV-WAITS", "CN-1", "INV-LATE"]);
    expect(rows["INV-1"]).toEqual({
      connection: "default",
      business: businessId,
      type: "sale",
      number: "INV-1",
      date: "2025-11-20",
      signed_on: "2025-11-20",
      signed_time: "14:05:59",
      cu_invoice_number: "CU/INV-1",
      receipt_number: "7",
      receipt_label: "NS",
      buyer_name: `'=HYPERLINK("x")`,
      buyer_pin: "P000000001Z",
      payment_type: "01",
      payment_type_in_words: "cash",
      status: "completed",
      taxable: "703.62",
      tax: "104.58",
      total: "808.20",
      not_signed_total: "",
      given_up_total: "",
      reversed_number: "",
      reversed_date: "",
      reversed_cu_invoice_number: "",
      reversed_document_id: "",
      refund_reason: "",
      refund_reason_in_words: "",
      document_id: "sale_INV-1",
      dated_in_future: "no",
      signed_in_another_month: "no",
      signed_outside_period: "no",
      buyer_pin_malformed: "no",
      dated_before_sale: "",
      payment_type_unknown: "no",
      number_used_twice: "no",
      taxable_B_16: "603.62",
      tax_B_16: "96.58",
      taxable_E_8: "100.00",
      tax_E_8: "8.00",
      made_at: expect.stringMatching(INSTANT),
    });
    expect(rows["CN-1"]).toMatchObject({
      type: "credit_note",
      total: "-808.20",
      tax_B_16: "-96.58",
      reversed_number: "INV-1",
      reversed_date: "2025-11-20",
      reversed_cu_invoice_number: "CU/INV-1",
      reversed_document_id: "sale_INV-1",
      refund_reason: "03",
      refund_reason_in_words: "damaged",
      dated_before_sale: "no",
    });
    expect(rows["INV-WAITS"]).toMatchObject({ status: "pending", total: "", tax_B_16: "", not_signed_total: "808.20" });
    expect(rows["INV-WAITS"]).toMatchObject({ signed_time: "", receipt_number: "", receipt_label: "" });
    expect(rows["INV-LATE"]).toMatchObject({ signed_on: "2025-12-02", signed_in_another_month: "yes", buyer_name: "" });
    expect(rows["INV-LATE"]?.["signed_outside_period"]).toBe("yes");
    expect(rows["INV-ODD"]).toMatchObject({ signed_on: "", signed_in_another_month: "", signed_outside_period: "" });
  });

  it("says below the table what its sums leave out, and marks what is to be looked at", async () => {
    const businessId = await november();
    const { stdout } = await documents("month", "--date", "2025-11", "--business", businessId);
    expect(stdout).toMatch(/^2025-11-30 +2025-12-02 +INV-LATE .* completed .* signed in 2025-12$/m);
    expect(stdout).toMatch(
      / CN-1 \(credit note\) +CU\/CN-1 .* -703\.62 +-104\.58 +-808\.20 +completed .* INV-1 of 2025-11-20: damaged \(03\)$/m,
    );
    expect(stdout).toMatch(/ INV-WAITS .* - +- +- +pending \(808\.20 not counted\) +- +-$/m);
    expect(stdout).toMatch(/^net +4 +1,407\.24 +209\.16 +1,616\.40$/m);
    expect(stdout).toMatch(/^signed in another month: sales +2025-12 +1 +703\.62 +104\.58 +808\.20$/m);
    expect(stdout).toMatch(/^dated in another month \(not counted\): sales +2025-10 +1 +703\.62 +104\.58 +808\.20$/m);
    expect(stdout).toContain("Listed and not signed, so in no sum: 1.");
    expect(stdout).toContain(
      "Sales and credit notes of this period under way, not known to have a document, so not listed: 1. See ",
    );
  });

  it("has in JSON the figures that the report has, and its documents", async () => {
    const businessId = await november();
    const argv = ["month", "--date", "2025-11", "--business", businessId, "--json"];
    const list = JSON.parse((await documents(...argv)).stdout);
    const report = JSON.parse((await callCli(["report", ...argv], { env: { LEDGER_URL: test.url } })).stdout);
    const [{ documents: listed, ...of }] = list.businesses;
    const { notSigned, givenUp, malformedPins, unknownPaymentTypes, ...others } = of;
    const { numbersUsedTwice, notIssued, endedNotIssued, ...figures } = others;
    expect(report.businesses[0]).toMatchObject(figures);
    const listedCounts = { notSigned, givenUp, malformedPins, unknownPaymentTypes, numbersUsedTwice };
    expect({ ...listedCounts, notIssued, endedNotIssued, period: list.period }).toEqual({
      notSigned: 1,
      givenUp: 0,
      malformedPins: 0,
      unknownPaymentTypes: 0,
      numbersUsedTwice: 0,
      notIssued: 1,
      endedNotIssued: 0,
      period: { from: "2025-11-01", to: "2025-11-30" },
    });
    expect(listed).toHaveLength(5);
    expect(listed.find(({ number }: ListedDocument) => number === "INV-WAITS")).toMatchObject({
      status: "pending",
      total: null,
      taxableAmount: null,
      taxAmount: null,
      taxes: [],
      notSignedTotal: "808.2",
      signedInAnotherMonth: null,
      signedOutsidePeriod: null,
    });
    expect(listed.find(({ number }: ListedDocument) => number === "INV-1")).toMatchObject({
      receiptNumber: 7,
      receiptLabel: "NS",
      signedTime: "14:05:59",
      total: "808.2",
      taxableAmount: "703.62",
      taxAmount: "104.58",
      taxes: [
        { taxRate: "16", taxTypeCode: "B", total: "700.2", taxableAmount: "603.62", taxAmount: "96.58" },
        { taxRate: "8", taxTypeCode: "E", total: "108", taxableAmount: "100", taxAmount: "8" },
      ],
      notSignedTotal: null,
    });
    expect(listed.find(({ number }: ListedDocument) => number === "CN-1")).toMatchObject({
      reverses: { documentId: "sale_INV-1", number: "INV-1", date: "2025-11-20", cuInvoiceNo: "CU/INV-1" },
      refundReason: "03",
      refundReasonInWords: "damaged",
    });
    expect(figures.oddDates).toMatchObject({
      signedInAnotherMonth: { sales: { count: 1, total: "808.2", others: ["2025-12"] } },
      datedInAnotherMonth: { sales: { count: 1, total: "808.2", others: ["2025-10"] } },
    });
  });

  it("names at the head of its table the seller, the days and the currency", async () => {
    const businessId = await november();
    const env = configuredAs(businessId, {
      COMPLIANCE_SELLERS: JSON.stringify({ [businessId]: { name: "Duka Moja Ltd", pin: "P051234567Z" } }),
    });
    const argv = ["documents", "month", "--date", "2025-11", "--business", businessId];
    const { stdout } = await callCli(argv, { env });
    expect(stdout.split("\n")[0]).toBe(
      `Duka Moja Ltd, PIN P051234567Z, ${businessId} (connection default), 2025-11-01 to 2025-11-30, amounts in KES`,
    );
    expect(stdout).not.toContain("not final");
    const [of] = JSON.parse((await callCli([...argv, "--json"], { env })).stdout).businesses;
    expect(of.seller).toEqual({ name: "Duka Moja Ltd", pin: "P051234567Z" });
  });

  it.each([
    [["day", "--date", "2999-01-15"], "The day has not begun."],
    [["month", "--date", "2999-01"], "The month has not begun."],
    [["period", "--from", "2025-11-01", "--to", "2999-01-15"], "The period is not over: its figures are not final."],
  ])("says of %j, as the report does: %s", async (argv, standing) => {
    const businessId = await november();
    const of = [...argv, "--business", businessId];
    const table = await documents(...of);
    expect(table.stdout.split("\n").slice(1, 3)).toEqual(["", standing]);
    expect(table.stderr).not.toContain(standing);
    for (const format of [["--format", "csv"], ["--json"]]) {
      const said = await documents(...of, ...format);
      expect(said.stderr).toContain(`${standing}\n`);
    }
  });

  it.each([
    ["2025-11", null],
    ["2999-01", "The month has not begun."],
  ])("says in JSON, as the report does, when it was made, and of %s: %s", async (month, standing) => {
    const businessId = await november();
    for (const name of ["documents", "report"]) {
      const argv = [name, "month", "--date", month, "--business", businessId, "--json"];
      const { stdout } = await callCli(argv, { env: { LEDGER_URL: test.url } });
      expect(JSON.parse(stdout)).toMatchObject({ madeAt: expect.stringMatching(INSTANT), standing });
    }
  });

  it("marks a date in the future, and so does the report", async () => {
    const business = someBusiness();
    const document = signed("INV-1", null, { saleDate: "2999-01-15" });
    await keepRecord(test.ledger, business, recordOf("INV-1", { document, movements: [] }), WRITER);
    const argv = ["day", "--date", "2999-01-15", "--business", business.businessId];
    const { stdout } = await documents(...argv);
    expect(stdout).toMatch(/^2999-01-15 +- +INV-1 .* dated in the future$/m);
    expect(stdout).toMatch(/^dated in the future: sales +1 +703\.62 +104\.58 +808\.20$/m);
    const report = await callCli(["report", ...argv], { env: { LEDGER_URL: test.url } });
    expect(report.stdout).toMatch(/^ {2}dated in the future: sales +1 +703\.62 +104\.58 +808\.20$/m);
  });

  it("marks a credit note that is dated before the sale that it reverses, also where that is in another month", async () => {
    const business = someBusiness();
    const sale = signed("INV-1", "01/12/2025", { saleDate: "2025-12-01" });
    const elsewhere = signed("INV-ELSEWHERE", null);
    for (const document of [
      sale,
      noteOf(sale, "CN-BEFORE", "2025-11-30"),
      noteOf(sale, "CN-SAME", "2025-12-01"),
      noteOf(elsewhere, "CN-UNKNOWN", "2025-11-30"),
    ]) {
      const type = document === sale ? "sale" : "credit_note";
      const record = recordOf(document.traderInvoiceNumber, { type, document, movements: [] });
      await keepRecord(test.ledger, business, record, WRITER);
    }
    const argv = ["period", "--from", "2025-11-01", "--to", "2025-12-31", "--business", business.businessId];
    const month = ["month", "--date", "2025-11", "--business", business.businessId];
    expect((await documents(...month)).stdout).toMatch(/CN-BEFORE \(credit note\) .* dated before its sale$/m);
    const { stdout } = await documents(...argv);
    expect(stdout.match(/dated before its sale$/gm)).toHaveLength(1);
    const line = /^ *dated before its sale: credit notes +1 +-703\.62 +-104\.58 +-808\.20$/m;
    expect(stdout).toMatch(line);
    const csv = await documents(...argv, "--format", "csv");
    expect(csv.stderr).toMatch(line);
    expect((await callCli(["report", ...month], { env: { LEDGER_URL: test.url } })).stdout).toMatch(line);
    const rows = rowsOf(csv.stdout);
    expect(Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row["dated_before_sale"]]))).toEqual({
      "INV-1": "",
      "CN-BEFORE": "yes",
      "CN-SAME": "no",
      "CN-UNKNOWN": "",
    });
    const [{ documents: listed }] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(listed.find(({ number }: ListedDocument) => number === "CN-BEFORE").datedBeforeSale).toBe(true);
  });

  it("gives a credit note the reason that it was asked for with, and one that somebody else issued none", async () => {
    const business = someBusiness();
    const refund = { reason: "06", traderInvoiceNumber: "CN-1" } as const;
    const save = (number: string, document: SaleDocument | null) => {
      const record = recordOf(number, { type: "credit_note", document, movements: [], originalSaleId: "s1", refund });
      return keepRecord(test.ledger, business, record, WRITER);
    };
    const argv = ["day", "--date", "2025-11-20", "--business", business.businessId, "--format", "csv"];
    const listed = async () => rowsOf((await documents(...argv)).stdout);
    await save("CN-1", signed("CN-DASHBOARD", null, { type: "credit_note", originalSaleId: "s1" }));
    expect(await listed()).toMatchObject({ "CN-DASHBOARD": { refund_reason: "", refund_reason_in_words: "" } });
    await save("CN-1", signed("CN-1", null, { type: "credit_note", originalSaleId: "s1" }));
    expect(await listed()).toMatchObject({ "CN-1": { refund_reason: "06", refund_reason_in_words: "refund" } });
  });

  it("does not net a sale that is dated in the future against its credit note", async () => {
    const business = someBusiness();
    const sale = signed("INV-1", null, { saleDate: "2999-01-15" });
    for (const document of [sale, noteOf(sale, "CN-1", "2999-01-15")]) {
      const type = document === sale ? "sale" : "credit_note";
      const record = recordOf(document.traderInvoiceNumber, { type, document, movements: [] });
      await keepRecord(test.ledger, business, record, WRITER);
    }
    const argv = ["day", "--date", "2999-01-15", "--business", business.businessId];
    for (const name of ["documents", "report"]) {
      const { stdout } = await callCli([name, ...argv], { env: { LEDGER_URL: test.url } });
      expect(stdout).toMatch(/dated in the future: sales +1 +703\.62 +104\.58 +808\.20$/m);
      expect(stdout).toMatch(/dated in the future: credit notes +1 +-703\.62 +-104\.58 +-808\.20$/m);
    }
  });

  it("marks of a day what was signed on another one, and says what was signed on it and is dated on another", async () => {
    const { businessId } = await nightShift();
    const argv = ["day", "--date", "2025-11-20", "--business", businessId];
    const { stdout } = await documents(...argv);
    expect(stdout).toMatch(/^2025-11-20 +2025-11-21 +INV-NIGHT .* signed on 2025-11-21$/m);
    expect(stdout).toMatch(/ INV-DAY .* -$/m);
    const otherDays = [
      /^ *signed on another day: sales +2025-11-21 +1 +703\.62 +104\.58 /m,
      /^ *dated on another day \(not counted\): sales +2025-11-19 /m,
    ];
    for (const line of otherDays) expect(stdout).toMatch(line);
    const rows = rowsOf((await documents(...argv, "--format", "csv")).stdout);
    expect(Object.keys(rows)).toEqual(["INV-DAY", "INV-NIGHT"]);
    expect(rows["INV-DAY"]).toMatchObject({ signed_outside_period: "no", signed_in_another_month: "no" });
    expect(rows["INV-NIGHT"]).toMatchObject({ signed_outside_period: "yes", signed_in_another_month: "no" });
    const [of] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(of.documents).toMatchObject([{ signedOutsidePeriod: false }, { signedOutsidePeriod: true }]);
    expect(of.oddDates).toMatchObject({
      signedOnAnotherDay: { sales: { count: 1, others: ["2025-11-21"] } },
      datedOnAnotherDay: { sales: { count: 1, others: ["2025-11-19"] } },
      signedInAnotherMonth: { sales: { count: 0 } },
      datedInAnotherMonth: { sales: { count: 0 } },
    });
    const report = await callCli(["report", ...argv], { env: { LEDGER_URL: test.url } });
    for (const line of otherDays) expect(report.stdout).toMatch(line);
    const month = await documents("month", "--date", "2025-11", "--business", businessId);
    expect(month.stdout).not.toContain("another day");
  });

  it.each(["documents", "purchases", "bill-payments", "report"])(
    "says in the help of %s what a month is",
    async (name) => {
      const { stdout } = await callCli([name, "month", "--help"]);
      expect(stdout.replaceAll(/\s+/g, " ")).toContain("the month, YYYY-MM or a day in it (default: this month)");
    },
  );

  it("has of whole months no figure of other days, and neither has the report", async () => {
    const { businessId } = await nightShift();
    const no = { sales: { count: 0, others: [] }, creditNotes: { count: 0, others: [] } };
    const none = { signedOnAnotherDay: no, datedOnAnotherDay: no };
    const month = ["month", "--date", "2025-11", "--business", businessId];
    const months = ["documents", "period", "--from", "2025-10-01", "--to", "2025-11-30", "--business", businessId];
    const env = { LEDGER_URL: test.url };
    for (const argv of [["documents", ...month], ["report", ...month], months]) {
      const { stdout } = await callCli([...argv, "--json"], { env });
      expect(JSON.parse(stdout).businesses).toMatchObject([{ oddDates: none }]);
    }
  });

  it("has of the sales and of the credit notes the other months of each, and so does the report", async () => {
    const business = someBusiness();
    const sale = signed("INV-OCTOBER", "01/11/2025", { saleDate: "2025-10-31" });
    for (const document of [sale, noteOf(sale, "CN-DECEMBER", "2025-12-01")]) {
      const type = document === sale ? "sale" : "credit_note";
      const record = recordOf(document.traderInvoiceNumber, { type, document, movements: [] });
      await keepRecord(test.ledger, business, record, WRITER);
    }
    const argv = ["month", "--date", "2025-11", "--business", business.businessId];
    const [of] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(of.oddDates.datedInAnotherMonth).toMatchObject({
      sales: { count: 1, others: ["2025-10"] },
      creditNotes: { count: 1, others: ["2025-12"] },
    });
    const env = { LEDGER_URL: test.url };
    const { stdout } = await callCli(["report", ...argv], { env });
    expect(stdout).toMatch(/dated in another month \(not counted\): sales +2025-10 +1 .* +104\.58 +808\.20$/m);
    expect(stdout).toMatch(/dated in another month \(not counted\): credit notes +2025-12 +1 .* +-104\.58 +-808\.20$/m);
  });

  it("tells a document that was given up from one that can still be signed", async () => {
    const business = someBusiness();
    const save = (number: string, status: SaleDocument["status"], stage: DocumentRecord["stage"]) => {
      const document = signed(number, null, { status, receipt: null });
      return keepRecord(test.ledger, business, recordOf(number, { document, movements: [], stage }), WRITER);
    };
    await save("INV-GIVEN-UP", "failed", "cancelled");
    await save("INV-WITHDRAWN", "cancelled", "rejected");
    await save("INV-REJECTED", "failed", "rejected");
    // The authority may sign it yet, whatever its workflow has ended with.
    await save("INV-ON-ITS-WAY", "pending", "cancelled");
    const argv = ["day", "--date", "2025-11-20", "--business", business.businessId];
    const { stdout } = await documents(...argv);
    expect(stdout).toMatch(/ INV-GIVEN-UP .* failed, given up \(808\.20 not counted\) /);
    expect(stdout).toMatch(/ INV-WITHDRAWN .* cancelled, given up \(808\.20 not counted\) /);
    expect(stdout).toMatch(/ INV-REJECTED .* failed \(808\.20 not counted\) .* rejected$/m);
    expect(stdout).toMatch(/ INV-GIVEN-UP .* rejected$/m);
    expect(stdout.match(/rejected$/gm)).toHaveLength(2);
    expect(stdout).toContain("Listed and not signed, so in no sum: 2.");
    expect(stdout).toContain("Listed and given up, so never signed and in no sum: 2.");
    const rows = rowsOf((await documents(...argv, "--format", "csv")).stdout);
    expect(rows["INV-GIVEN-UP"]).toMatchObject({ not_signed_total: "", given_up_total: "808.20" });
    expect(rows["INV-WITHDRAWN"]).toMatchObject({ not_signed_total: "", given_up_total: "808.20" });
    expect(rows["INV-REJECTED"]).toMatchObject({ not_signed_total: "808.20", given_up_total: "" });
    expect(rows["INV-ON-ITS-WAY"]).toMatchObject({ not_signed_total: "808.20", given_up_total: "" });
    const [of] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(of).toMatchObject({ notSigned: 2, givenUp: 2 });
    const given = of.documents.find(({ number }: ListedDocument) => number === "INV-GIVEN-UP");
    expect(given).toMatchObject({ givenUp: true, total: null, notSignedTotal: null, givenUpTotal: "808.2" });
  });

  it("says how many ended before they were known to have a document, apart from those that are under way", async () => {
    const business = someBusiness();
    const closed = { status: "terminated", atMs: 1_763_600_000_000 } as const;
    const save = (number: string, more: Partial<DocumentRecord>) => {
      const of = recordOf(number, { document: null, movements: [], stage: "submitting", date: "2025-11-20", ...more });
      return keepRecord(test.ledger, business, of, WRITER);
    };
    const argv = ["day", "--date", "2025-11-20", "--business", business.businessId];
    const noted = async () => (await documents(...argv, "--format", "csv")).stderr;
    const see = `See "Ended without an outcome": fiscalflow report day`;
    await save("INV-UNDER-WAY", {});
    await save("INV-OTHER-DAY", { closed, date: "2025-11-21" });
    await save("INV-REFUSED", { closed, failed: true });
    await save("INV-CANCELLED", { closed, stage: "cancelled" });
    await save("INV-SUBMITTED", { closed, document: signed("INV-SUBMITTED", null, { status: "pending" }) });
    expect(await noted()).not.toContain(see);
    await save("INV-ENDED", { closed });
    expect(await noted()).toContain(`Note: ${ENDED}: 1. ${see}\n`);
    await save("CN-ENDED", { closed, type: "credit_note", originalSaleId: "s1" });
    expect(await noted()).toContain(`Note: ${ENDED}: 2. ${see}\n`);
    const [of] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(of).toMatchObject({ notIssued: 1, notSigned: 1, endedNotIssued: 2 });
  });

  it("takes a document as given up only where every workflow that has it gave it up", async () => {
    const business = someBusiness();
    const document = signed("CN-1", null, {
      type: "credit_note",
      originalSaleId: "s1",
      status: "failed",
      receipt: null,
    });
    for (const [number, stage] of [
      ["CN-1", "cancelled"],
      ["CN-2", "rejected"],
    ] as const) {
      const record = recordOf(number, { type: "credit_note", document, movements: [], originalSaleId: "s1", stage });
      await keepRecord(test.ledger, business, record, WRITER);
    }
    const argv = ["day", "--date", "2025-11-20", "--business", business.businessId, "--json"];
    expect(JSON.parse((await documents(...argv)).stdout).businesses).toMatchObject([
      { notSigned: 1, givenUp: 0, documents: [{ number: "CN-1", givenUp: false }] },
    ]);
  });

  it("marks a buyer's PIN that cannot be one", async () => {
    const business = someBusiness();
    for (const [number, pin] of [
      ["INV-RIGHT", "P051234567Z"],
      ["INV-SHORT", "P05123456Z"],
      ["INV-SMALL", "p051234567z"],
      ["INV-NONE", null],
    ] as const) {
      const document = signed(number, "20/11/2025", { customer: { name: "Wanjiku", pin } });
      await keepRecord(test.ledger, business, recordOf(number, { document, movements: [] }), WRITER);
    }
    const argv = ["day", "--date", "2025-11-20", "--business", business.businessId];
    const { stdout } = await documents(...argv);
    expect(stdout).toMatch(/ INV-SHORT .* malformed PIN$/m);
    expect(stdout).toMatch(/ INV-SMALL .* malformed PIN$/m);
    expect(stdout.match(/malformed PIN$/gm)).toHaveLength(2);
    const note =
      "Listed with a malformed buyer's PIN (expected A or P, nine digits and a letter, such as P012345678Z): 2.";
    expect(stdout).toContain(`Note: ${note}`);
    const csv = await documents(...argv, "--format", "csv");
    expect(csv.stderr).toContain(`Note: ${note}`);
    expect(rowsOf(csv.stdout)).toMatchObject({
      "INV-RIGHT": { buyer_pin_malformed: "no" },
      "INV-SHORT": { buyer_pin_malformed: "yes" },
      "INV-SMALL": { buyer_pin_malformed: "yes" },
      "INV-NONE": { buyer_pin_malformed: "" },
    });
    const [of] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(of.malformedPins).toBe(2);
    expect(of.documents.filter((one: ListedDocument) => one.customerPinMalformed)).toMatchObject([
      { number: "INV-SHORT" },
      { number: "INV-SMALL" },
    ]);
    // The report says so too, of the same documents.
    const report = async (...flags: string[]) =>
      (await callCli(["report", ...argv, ...flags], { env: { LEDGER_URL: test.url } })).stdout;
    const text = await report();
    expect(text).toMatch(/^ {2}malformed PIN: sales +2 +1,407\.24 +209\.16 +1,616\.40$/m);
    expect(text).not.toContain("malformed PIN: credit notes");
    const [{ buyers }] = JSON.parse(await report("--json")).businesses;
    expect(buyers.malformedPin).toMatchObject({ sales: { count: 2, total: "1616.4" }, net: { count: 2 } });
    expect(of.buyers).toEqual(buyers);
  });

  it("agrees in the report's payment types with what sales took in and what credit notes gave back", async () => {
    const business = someBusiness();
    const [cash, mobile] = [
      signed("INV-CASH", "20/11/2025", { paymentTypeCode: "01" }),
      signed("INV-MOBILE", "20/11/2025", { paymentTypeCode: "06" }),
    ];
    const note = { ...noteOf(cash, "CN-CASH", "2025-11-24"), paymentTypeCode: "01" };
    for (const document of [cash, mobile, note]) {
      const type = document === note ? "credit_note" : "sale";
      const record = recordOf(document.traderInvoiceNumber, { type, document, movements: [] });
      await keepRecord(test.ledger, business, record, WRITER);
    }
    const argv = ["report", "month", "--date", "2025-11", "--business", business.businessId];
    const of = async (...flags: string[]) =>
      (await callCli([...argv, ...flags], { env: { LEDGER_URL: test.url } })).stdout;
    const text = await of();
    expect(text).toMatch(/^ {2}taken in by sales +cash \(01\) +1 +808\.20$/m);
    expect(text).toMatch(/^ {2}given back by credit notes +cash \(01\) +1 +-808\.20$/m);
    expect(text).toMatch(/^ {2}net of payment type +cash \(01\) +2 +0\.00$/m);
    expect(text).toMatch(/^ {2}taken in by sales +mobile money \(06\) +1 +808\.20$/m);
    const [{ payments, sales, creditNotes, net }] = JSON.parse(await of("--json")).businesses;
    expect(payments).toEqual([
      {
        paymentTypeCode: "01",
        paymentTypeUnknown: false,
        count: 2,
        total: "0.0",
        sales: { count: 1, total: "808.2" },
        creditNotes: { count: 1, total: "-808.2" },
      },
      {
        paymentTypeCode: "06",
        paymentTypeUnknown: false,
        count: 1,
        total: "808.2",
        sales: { count: 1, total: "808.2" },
        creditNotes: { count: 0, total: "0" },
      },
    ]);
    expect([sales.total, creditNotes.total, net.total]).toEqual(["1616.4", "-808.2", "808.2"]);
  });

  it("sums up sales to buyers with a PIN and without one apart, and so does the report", async () => {
    const business = someBusiness();
    const sales = [
      ["INV-1", { name: "Wanjiku", pin: "P051234567Z" }],
      ["INV-2", { name: "Otieno", pin: "malformed" }],
      ["INV-3", { name: "Njeri", pin: "" }],
      ["INV-4", null],
      ["INV-5", { name: "Mutua" }],
    ] as const;
    const issued = sales.map(([number, customer]) => signed(number, "20/11/2025", { customer }));
    for (const document of [...issued, ...issued.slice(0, 1).map((sale) => noteOf(sale, "CN-1", "2025-11-24"))]) {
      const type = document.type === "credit_note" ? "credit_note" : "sale";
      const of = { ...document, ...(type === "credit_note" && { customer: issued[0]?.customer ?? null }) };
      const record = recordOf(document.traderInvoiceNumber, { type, document: of, movements: [] });
      await keepRecord(test.ledger, business, record, WRITER);
    }
    const argv = ["month", "--date", "2025-11", "--business", business.businessId];
    const report = await callCli(["report", ...argv], { env: { LEDGER_URL: test.url } });
    for (const { stdout } of [await documents(...argv), report]) {
      expect(stdout).toMatch(/^ *sales to buyers with a PIN +2 +1,407\.24 +209\.16 +1,616\.40$/m);
      expect(stdout).toMatch(/^ *tax of sales to buyers with a PIN +E +8 % +200\.00 +16\.00 +216\.00$/m);
      expect(stdout).toMatch(/^ *sales to buyers without a PIN +3 +2,110\.86 +313\.74 +2,424\.60$/m);
      expect(stdout).toMatch(/^ *credit notes to buyers with a PIN +1 +-703\.62 +-104\.58 +-808\.20$/m);
    }
    const [{ buyers }] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(buyers).toMatchObject({
      withPin: { sales: { count: 2, total: "1616.4" }, net: { count: 3, total: "808.2" } },
      withoutPin: { sales: { count: 3, total: "2424.6" }, creditNotes: { count: 0, total: "0" } },
    });
  });

  it("marks a payment type that is not in the authority's list", async () => {
    const business = someBusiness();
    for (const [number, paymentTypeCode] of [
      ["INV-CASH", "01"],
      ["INV-99", "99"],
      ["INV-UNSTATED", null],
    ] as const) {
      const document = signed(number, "20/11/2025", { paymentTypeCode });
      await keepRecord(test.ledger, business, recordOf(number, { document, movements: [] }), WRITER);
    }
    const argv = ["day", "--date", "2025-11-20", "--business", business.businessId];
    const { stdout } = await documents(...argv);
    expect(stdout).toMatch(/^2025-11-20 .* INV-99 .* unknown payment type 99$/m);
    expect(stdout.match(/unknown payment type/g)).toHaveLength(1);
    expect(stdout).toContain("Note: Listed with a payment type that is not in the authority's list: 1.\n");
    expect(rowsOf((await documents(...argv, "--format", "csv")).stdout)).toMatchObject({
      "INV-CASH": { payment_type_unknown: "no" },
      "INV-99": { payment_type_unknown: "yes" },
      "INV-UNSTATED": { payment_type_unknown: "" },
    });
    const [of] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(of.documents).toMatchObject([
      { number: "INV-99", paymentTypeUnknown: true },
      { number: "INV-CASH", paymentTypeUnknown: false },
      { number: "INV-UNSTATED", paymentTypeUnknown: null },
    ]);
    const report = await callCli(["report", ...argv], { env: { LEDGER_URL: test.url } });
    expect(report.stdout).toMatch(/^ {2}unknown payment type: sales +99 +1 +808\.20$/m);
    expect(report.stdout.match(/unknown payment type/g)).toHaveLength(1);
    const json = await callCli(["report", ...argv, "--json"], { env: { LEDGER_URL: test.url } });
    expect(JSON.parse(json.stdout).businesses[0].payments).toMatchObject([
      { paymentTypeCode: "01", paymentTypeUnknown: false },
      { paymentTypeCode: "99", paymentTypeUnknown: true },
      { paymentTypeCode: null, paymentTypeUnknown: null },
    ]);
  });

  it("marks both where a credit note has the number of a sale, if both are listed", async () => {
    const business = someBusiness();
    const save = (number: string, document: SaleDocument) => {
      const type = document.type === "credit_note" ? "credit_note" : "sale";
      return keepRecord(test.ledger, business, recordOf(number, { type, document, movements: [] }), WRITER);
    };
    const sales = ["INV-1", "INV-2"].map((number) => signed(number, "20/11/2025"));
    for (const sale of sales) await save(sale.traderInvoiceNumber, sale);
    // It was asked for under another number.
    const note = { ...noteOf(signed("INV-2", null), "INV-1", "2025-11-24"), id: "sale_note" };
    await save("CN-1", note);
    // Two workflows that have one document do not make its number that of two.
    await save("CN-2", note);
    const argv = ["month", "--date", "2025-11", "--business", business.businessId];
    const { stdout } = await documents(...argv);
    expect(stdout).toMatch(/ INV-1 +CU\/INV-1 .* number used twice$/m);
    expect(stdout).toMatch(/ INV-1 \(credit note\) .* number used twice$/m);
    expect(stdout.match(/number used twice$/gm)).toHaveLength(2);
    const words = "Note: Numbers that two or more listed documents have: 1.\n";
    expect(stdout).toContain(words);
    const csv = await documents(...argv, "--format", "csv");
    expect(csv.stderr).toContain(words);
    const marks = Object.values(csvRows(csv.stdout, "document_id")).map((row) => [
      row["number"],
      row["number_used_twice"],
    ]);
    expect(marks).toEqual([
      ["INV-1", "yes"],
      ["INV-2", "no"],
      ["INV-1", "yes"],
    ]);
    const [of] = JSON.parse((await documents(...argv, "--json")).stdout).businesses;
    expect(of.numbersUsedTwice).toBe(1);
    expect(of.documents.map((one: ListedDocument) => one.numberUsedTwice)).toEqual([true, false, true]);
    const day = await documents("day", "--date", "2025-11-24", "--business", business.businessId);
    expect(day.stdout).toMatch(/ INV-1 \(credit note\) /);
    expect(day.stdout).not.toContain("used twice");
  });

  it("lists each document once where two workflows have it, as signed where one knows that", async () => {
    const business = someBusiness();
    const document = signed("CN-1", "20/11/2025", { type: "credit_note", originalSaleId: "sal_elsewhere" });
    const save = (number: string, told: SaleDocument) =>
      keepRecord(
        test.ledger,
        business,
        recordOf(number, { type: "credit_note", document: told, movements: [], originalSaleId: "sal_elsewhere" }),
        WRITER,
      );
    await save("CN-1", { ...document, status: "pending", receipt: null });
    await save("CN-2", document);
    const said = await documents("day", "--date", "2025-11-20", "--business", business.businessId, "--format", "csv");
    expect(Object.values(rowsOf(said.stdout))).toMatchObject([
      {
        number: "CN-1",
        status: "completed",
        reversed_number: "",
        reversed_date: "",
        reversed_document_id: "sal_elsewhere",
      },
    ]);
  });

  it("writes a file that appears only once it is complete", async () => {
    const businessId = await november();
    const file = join(folder, "november.csv");
    const argv = ["period", "--from", "2025-11-24", "--to", "2025-11-30", "--business", businessId, "--format", "csv"];
    const said = await documents(...argv, "--out", file);
    expect(said).toMatchObject({ exitCode: 0, stdout: "" });
    expect(said.stderr).toContain(`Written to ${file}.`);
    expect(Object.keys(rowsOf(await readFile(file, "utf8")))).toEqual(["CN-1", "INV-LATE"]);
    expect(await readdir(folder)).toEqual(["november.csv"]);
  });

  it.each([
    ["named.csv", [], /^connection,business,type,date,/, true],
    ["NAMED.CSV", [], /^connection,business,type,date,/, true],
    ["plain.csv", ["--json"], /^\{"period":/, false],
    ["plain.json", [], /^\{"period":/, false],
    ["table.txt", [], /^\S+ \(connection default\), 2025-11-01/, false],
  ])("writes %s with %j as its name says, unless it is told otherwise", async (name, flags, begins, notes) => {
    const businessId = await november();
    const file = join(folder, name);
    const argv = ["month", "--date", "2025-11", "--business", businessId, ...flags, "--out", file];
    const said = await documents(...argv);
    expect(said).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await readFile(file, "utf8")).toMatch(begins);
    // As with --format csv: what the table would say below its rows.
    expect(said.stderr.includes("Note: ")).toBe(notes);
    await rm(file);
  });

  it("says why a file cannot be written, and then reads nothing from the ledger", async () => {
    const businessId = await november();
    const said = await documents("month", "--business", businessId, "--out", join(folder, "nowhere", "x.csv"));
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toContain("ENOENT");
  });

  it.each([
    [["month", "--format", "csv", "--json"], "cannot be used with option '--json'"],
    [["month", "--out", "november.xlsx"], "No format has the ending .xlsx. Add --format: text, csv, json."],
    [["period", "--from", "2025-11-02", "--to", "2025-11-01"], "later than"],
    [["period", "--from", "2025-11-31", "--to", "2025-12-01"], "--from"],
    [["period", "--from", "2025-11-01"], "--to"],
    [["day", "--date", "2025-11"], "YYYY-MM-DD"],
  ])("refuses %j", async (argv, why) => {
    const said = await documents(...argv);
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toContain(why);
  });

  it.each([["documents"], ["report"]])(
    "%s refuses a business that nobody knows, and names those that are",
    async (name) => {
      await november();
      const env = configuredAs("biz_quiet");
      for (const [flags, what] of [
        [["--business", "biz_nobody"], 'business "biz_nobody"'],
        [["--connection", "nowhere"], 'connection "nowhere"'],
        [["--business", "biz_quiet", "--connection", "nowhere"], 'business "biz_quiet" of connection "nowhere"'],
      ] as const) {
        const said = await callCli([name, "month", ...flags], { env });
        expect(said).toMatchObject({ exitCode: 2, stdout: "" });
        expect(said.stderr).toContain(
          `Neither the ledger nor the configuration has a ${what}. Configured here: biz_quiet (connection default).`,
        );
      }
    },
  );

  it.each([["documents"], ["report"]])(
    "%s takes a business that the ledger knows by something else than documents",
    async (name) => {
      const business = someBusiness();
      const event = { kind: "item-changed", subject: "item_1", content: {}, writer: WRITER };
      await test.ledger.events.append(business, [event]);
      const said = await callCli([name, "month", "--business", business.businessId], { env: { LEDGER_URL: test.url } });
      expect(said).toMatchObject({ exitCode: 0 });
      expect(said.stdout).toContain("The ledger has no documents of that connection and business.");
    },
  );

  it("says so where a business has no documents", async () => {
    const said = await callCli(["documents", "month", "--business", "biz_quiet"], { env: configuredAs("biz_quiet") });
    expect(said).toMatchObject({
      exitCode: 0,
      stdout: "The ledger has no documents of that connection and business.\n",
    });
    const { host, pathname } = new URL(test.url);
    expect(said.stderr).toContain(`Ledger: ${host}${pathname}\n`);
  });

  it("fails without a ledger, and creates none", async () => {
    const home = await mkdtemp(join(folder, "home-"));
    const said = await callCli(["documents", "day"], { env: { FISCALFLOW_HOME: home } });
    expect(said).toMatchObject({ exitCode: 2, stdout: "" });
    expect(said.stderr).toContain(`There is no ledger in ${home}: no worker has written to it. Set LEDGER_URL`);
    expect(await readdir(home)).toEqual([]);
  });

  it("fails on a ledger to which nothing was ever written", async () => {
    const fresh = await createTestLedger(15_000);
    const env = { LEDGER_URL: fresh.url };
    try {
      await fresh.ledger.ready();
      for (const argv of [
        ["documents", "day"],
        ["report", "day", "--json"],
        ["ledger", "verify"],
      ]) {
        const said = await callCli(argv, { env });
        expect({ argv, ...said }).toMatchObject({ argv, exitCode: 1, stdout: "" });
        expect(said.stderr).toContain("The ledger is empty: nothing was ever written to");
        expect(said.stderr).not.toContain("demo");
      }
    } finally {
      await fresh.drop();
    }
  });

  it("takes a ledger that has only the claim of a document: its record follows", async () => {
    const fresh = await createTestLedger(15_000);
    try {
      const of = { type: "sale", number: "K-1" } as const;
      const bytes = { intent: 1, idempotencyKey: "key-1", content: "{}", request: "{}", nowMs: 1 };
      const document = { connection: "default", businessId: "biz_1", of, writer: WRITER };
      await fresh.ledger.documents.take({ ...document, ...bytes, ...taking() });
      const said = await callCli(["report", "day"], { env: { LEDGER_URL: fresh.url } });
      expect(said).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining("The ledger is empty") });
    } finally {
      await fresh.drop();
    }
  });
});
