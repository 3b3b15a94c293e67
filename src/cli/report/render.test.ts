import { describe, expect, it, test } from "vitest";

import { money } from "../../contract/decimal.ts";
import { COMPLIANCE, load } from "../../config/test-support/load.ts";
import { UsageError } from "../context.ts";
import { age, plain } from "../output.ts";
import { NOW_MS, sampleReport } from "../test-support/sample-report.ts";
import { configuredSeller, periodOf, standingOf } from "./asked.ts";
import { renderHtml } from "./page.ts";
import { renderText } from "./run-report.ts";

const headOf = (kind: "day" | "month", date: string) => ({
  period: periodOf(kind, date, NOW_MS),
  nowMs: NOW_MS,
  sellerOf: () => undefined,
});
const MONTH = headOf("month", "2026-11");
const day = (date: string) => headOf("day", date);

describe("a period", () => {
  it("is today's in Nairobi where none is named", () => {
    const lateInLondon = Date.UTC(2026, 1, 28, 21, 30);
    expect(periodOf("day", undefined, lateInLondon)).toEqual({ kind: "day", from: "2026-03-01", to: "2026-03-01" });
    expect(periodOf("month", undefined, lateInLondon)).toEqual({ kind: "month", from: "2026-03-01", to: "2026-03-31" });
  });

  it.each([
    ["2026-02", "2026-02-28"],
    ["2028-02-11", "2028-02-29"],
    ["2026-12", "2026-12-31"],
  ])("of a month %s ends on %s", (date, last) => {
    expect(periodOf("month", date, NOW_MS)).toEqual({ kind: "month", from: `${date.slice(0, 7)}-01`, to: last });
  });

  it.each(["2026-02-29", "2026-2-1", "today", "2026-02", ""])("of a day is not %j", (date) => {
    expect(() => periodOf("day", date, NOW_MS)).toThrow(UsageError);
  });

  it.each(["2026-13", "2026", "2026-11-31", "2026-11x"])("of a month is not %j", (date) => {
    expect(() => periodOf("month", date, NOW_MS)).toThrow(UsageError);
  });
});

test.each([
  ["day", "2026-11-20", undefined],
  ["day", "2026-11-21", "The day is not over: its figures are not final."],
  ["day", "2026-11-22", "The day has not begun."],
  ["month", "2026-10", undefined],
  ["month", "2026-11", "The month is not over: its figures are not final."],
  ["month", "2026-12", "The month has not begun."],
] as const)("a report of the %s %s, made on 2026-11-21, says: %s", (kind, date, words) => {
  const head = headOf(kind, date);
  expect(standingOf(head.period, NOW_MS)).toBe(words);
  const pages = [renderText([sampleReport()], head), renderHtml([sampleReport()], head)];
  for (const page of pages) {
    const [found] = /The (?:day|month) (?:is not over: its figures are not final|has not begun)\./.exec(page) ?? [];
    expect(found).toBe(words);
  }
});

test("amounts are written with their thousands apart, and never rounded", () => {
  expect(["0", "-1200.5", "1234567.805", "999", "1000.00", "0.0000001"].map(money)).toEqual([
    "0.00",
    "-1,200.50",
    "1,234,567.805",
    "999.00",
    "1,000.00",
    "0.0000001",
  ]);
  expect(["16", "8.00", "0.50", "100"].map(plain)).toEqual(["16", "8", "0.5", "100"]);
  expect([59_000, 3_600_000, 90_000_000].map((ms) => age(NOW_MS - ms, NOW_MS))).toEqual([
    "0 min",
    "1 h 0 min",
    "1 d 1 h",
  ]);
});

test("the text table has every figure, what is open, since when, and what is at risk", () => {
  const text = renderText([sampleReport()], MONTH);
  expect(text).toContain("biz_<b>1</b> (connection default), 2026-11-01 to 2026-11-30, amounts in KES");
  expect(text).toContain("quantity taken");
  expect(text).toContain("movements unknown");
  expect(text).toMatch(/^ {2}net +4003 +1,063,247\.68 +170,119\.62 +1,233,367\.30$/m);
  expect(text).toMatch(/^ {2}tax net +E +8 % +0\.00 +812\.50 +0\.00$/m);
  expect(text).toMatch(
    /^ {2}open sale +INV-<script> +rejected +rejected: the tax authority said no.* EAT \(2 d 7 h\) +700\.20$/m,
  );
  expect(text).toMatch(
    /^ {2}open credit note +CN-1 +awaiting-authority +2026-11-2\d \d\d:\d\d EAT \(10 min\) +1,200\.50$/m,
  );
  expect(text).toMatch(/^ {2}all open +2 +1,900\.70$/m);
  expect(text).toContain("carry them on with `fiscalflow sale restart`");
  expect(text).toMatch(/^ {2}ended sale +INV-9 +awaiting-authority +terminated +2026-11-21 14:00 EAT +232\.00$/m);
  expect(text).toMatch(/^ {2}all ended +1 +232\.00$/m);
});

test("a sale and its credit note that were signed in another month stand apart, and do not cancel each other", () => {
  const text = renderText([sampleReport()], MONTH);
  expect(text).toMatch(/^ {2}signed in another month: sales +2026-12 +1 +700\.43 +112\.07 +812\.50$/m);
  expect(text).toMatch(/^ {2}signed in another month: credit notes +2027-01 +1 +-700\.43 +-112\.07 +-812\.50$/m);
});

test("what was sold to buyers with a PIN and without one stands apart, by rate where there are several", () => {
  const text = renderText([sampleReport()], MONTH);
  expect(text).toMatch(/^ {2}tax of sales to buyers with a PIN +B +16 % +1,000\.43 +160\.07 +1,160\.50$/m);
  expect(text).toMatch(/^ {2}sales to buyers with a PIN +1 +1,000\.43 +160\.07 +1,160\.50$/m);
  expect(text).toMatch(/^ {2}sales to buyers without a PIN +3999 +1,063,282\.16 +170,125\.14 +1,233,407\.30$/m);
  expect(text).toMatch(
    /^ {2}tax of sales to buyers without a PIN +B +16 % +1,064,282\.59 +170,285\.21 +1,234,567\.80$/m,
  );
  expect(text).toMatch(/^ {2}credit notes to buyers with a PIN +0 +0\.00 +0\.00 +0\.00$/m);
  const { buyers } = sampleReport();
  const { creditNotes } = buyers.withPin;
  const one = { ...buyers, withoutPin: { ...buyers.withoutPin, creditNotes, taxes: [] } };
  const quiet = renderText([{ ...sampleReport(), buyers: one }], MONTH);
  expect(quiet).not.toMatch(/credit notes to buyers|tax of sales to buyers/);
  const page = renderHtml([sampleReport()], MONTH);
  expect(page).toContain("<h3>Signed documents by the buyer&#39;s PIN</h3>");
});

test("the course of a day is by the hour of the start, and says what was started on another day", () => {
  const course = [{ at: "11", sales: "700.2", creditNotes: "0" }];
  const notInCourse = { sales: { count: 1, total: "812.5" }, creditNotes: { count: 1, total: "-12.5" } };
  const head = day("2026-11-20");
  const page = renderHtml([{ ...sampleReport(), course, notInCourse }], head);
  expect(page).toContain("<h3>Sales and credit notes by the hour in which each was started</h3>");
  const note = "Not shown, as started on another day (2): sales 812.50, credit notes -12.50.";
  expect(page).toContain(note);
  expect(renderHtml([{ ...sampleReport(), course: [], notInCourse }], head)).toContain(note);
  expect(renderHtml([{ ...sampleReport(), course }], head)).not.toContain("Not shown");
  expect(renderHtml([sampleReport()], MONTH)).toContain("<h3>Sales and credit notes by day</h3>");
});

test("the HTML page says the same as the table, loads nothing, and escapes all text", () => {
  const page = renderHtml([sampleReport()], MONTH);
  expect(page).toContain("1,233,367.30");
  expect(page).toContain("Amounts are in KES.");
  expect(page).toContain("INV-&lt;script&gt;");
  expect(page).not.toMatch(/<script|<b>|<link|<img|url\(|@import|\bsrc=|href=/);
  expect(page.match(/<svg /g)).toHaveLength(1);
  expect(page.match(/<div class="shares">/g)).toHaveLength(2);
  expect(page.match(/<title>2026-11-\d\d: sales/g)).toHaveLength(30);
  expect(page).toContain("2026-11-04: sales 53,757.00, credit notes -4,200.50");
});

test("the headline figures of the page are as small as the longest of them needs, and are never cut off", () => {
  const report = sampleReport();
  const net = { ...report.net, total: "1655512644.48" };
  const page = renderHtml([{ ...report, net }], MONTH);
  expect(page).toContain(`<div class="figures" style="--characters: ${"1,655,512,644.48".length}">`);
  const [rule] = /^\.figure \{[^}]*\}/m.exec(page) ?? [];
  expect(rule).toContain("100cqi / (var(--characters) * .64)");
  expect(rule).toContain("overflow-wrap: anywhere");
  expect(rule).not.toContain("nowrap");
});

test("a payment type is in words where the authority's list has it", () => {
  const types = ["01", "06", "99", null].flatMap((paymentTypeCode) =>
    sampleReport().payments.map((payment) => ({ ...payment, paymentTypeCode })),
  );
  const text = renderText([{ ...sampleReport(), payments: types }], MONTH);
  for (const words of ["cash (01)", "mobile money (06)", "99", "not stated"]) expect(text).toMatch(words);
});

test("a payment type has what sales took in and what credit notes gave back apart", () => {
  const [took, gave] = [
    { count: 3999, total: "1234000.10" },
    { count: 1, total: "567.7" },
  ];
  const none = { count: 0, total: "0" };
  const back = { count: 3, total: "-1200.50" };
  const payments = [
    { paymentTypeCode: "01", count: 4002, total: "1232799.60", sales: took, creditNotes: back },
    { paymentTypeCode: "06", count: 1, total: "567.7", sales: gave, creditNotes: none },
  ];
  const text = renderText([{ ...sampleReport(), payments }], MONTH);
  expect(text).toMatch(/^ {2}taken in by sales +cash \(01\) +3999 +1,234,000\.10$/m);
  expect(text).toMatch(/^ {2}given back by credit notes +cash \(01\) +3 +-1,200\.50$/m);
  expect(text).toMatch(/^ {2}net of payment type +cash \(01\) +4002 +1,232,799\.60$/m);
  expect(text).toMatch(/^ {2}taken in by sales +mobile money \(06\) +1 +567\.70$/m);
  expect(text).toMatch(/^ {2}given back by credit notes +mobile money \(06\) +0 +0\.00$/m);
});

test("the documents of each payment type that is not in the authority's list stand apart", () => {
  const sales = { count: 2, total: "1400.4" };
  const creditNotes = { count: 1, total: "-700.2" };
  const payments = ["01", "99", "X1", null].map((paymentTypeCode) => {
    return { paymentTypeCode, count: 3, total: "700.2", sales, creditNotes };
  });
  const text = renderText([{ ...sampleReport(), payments }], MONTH);
  expect(text.match(/^ {2}unknown payment type: sales +(99|X1) +2 +1,400\.40$/gm)).toHaveLength(2);
  expect(text.match(/^ {2}unknown payment type: credit notes /gm)).toHaveLength(2);
});

test("page and table are headed by the business's name and PIN, where they are known", () => {
  const sellers = { "biz_<b>1</b>": { name: "Duka & Sons", pin: "P051234567Z" } };
  const sellerOf = configuredSeller(load({ ...COMPLIANCE, COMPLIANCE_SELLERS: JSON.stringify(sellers) }));
  const named = renderHtml([sampleReport()], { ...MONTH, sellerOf });
  expect(named).toContain("<h2>Duka &amp; Sons</h2>");
  expect(named).toContain('<p class="none">PIN P051234567Z · biz_&lt;b&gt;1&lt;/b&gt; · connection default</p>');
  expect(renderText([sampleReport()], { ...MONTH, sellerOf })).toContain(
    "Duka & Sons, PIN P051234567Z, biz_<b>1</b> (connection default), 2026-11-01 to 2026-11-30, amounts in KES",
  );
  expect(renderHtml([sampleReport()], MONTH)).toContain("<h2>biz_&lt;b&gt;1&lt;/b&gt; · connection default</h2>");
});

test("the HTML page of a day without documents is complete", () => {
  const empty = { count: 0, total: "0", taxableAmount: "0", taxAmount: "0" };
  const signed = { sales: empty, creditNotes: empty, net: empty, taxes: [] };
  const buyers = { withPin: signed, withoutPin: signed, malformedPin: signed };
  const none = { ...signed, buyers, payments: [], course: [], movements: [] };
  const ended = { documents: [], more: 0, amount: "0" };
  const report = { ...sampleReport(), ...none, open: [], openByCode: [], ended, atRisk: "0" };
  const page = renderHtml([report], day("2026-11-21"));
  expect(page).toContain("The ledger knows of nothing that is open. No document ended without an outcome.");
  expect(page).toContain("No signed document states a payment type.");
  expect(page).not.toContain("NaN");
  // Figures and totals; no card without content.
  expect(page.match(/<h3>[^<]+/g)?.map((heading) => heading.slice(4))).toEqual([
    "Net of credit notes",
    "Tax",
    "Signed sales",
    "At risk now",
    "Signed documents",
    "Signed documents to look at before the tax return: see fiscalflow documents",
  ]);
  expect(renderHtml([], MONTH)).toContain("has no documents");
});

test("a bar of less than nothing has the colour of credit notes, and its amount its sign", () => {
  const { taxes } = sampleReport();
  const amounts = ["300", "-100", "0"];
  const nets = taxes.map((tax, n) => ({ ...tax, net: { ...tax.net, taxAmount: amounts[n] ?? "" } }));
  const page = renderHtml([{ ...sampleReport(), taxes: nets }], MONTH);
  const bars = [...page.matchAll(/<i style="width:([\d.]+)%;background:var\(--(\w+)\)"><\/i><\/span><span>([^<]+)/g)];
  expect(bars.slice(0, 3).map(([, width, tone, amount]) => [width, tone, amount])).toEqual([
    ["100.0", "sale", "300.00"],
    ["33.3", "note", "-100.00"],
    ["0.0", "sale", "0.00"],
  ]);
});
