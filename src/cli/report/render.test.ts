import { describe, expect, it, test } from "vitest";

import { UsageError } from "../cli-error.ts";
import { NOW_MS, sampleReport } from "../test-support/sample-report.ts";
import { age, money, plain } from "./money.ts";
import { periodOf } from "./period.ts";
import { renderCsv } from "./render-csv.ts";
import { renderHtml } from "./render-html.ts";
import { renderText } from "./render-text.ts";

const MONTH = periodOf("month", "2026-11", NOW_MS);

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

test("the table has every figure, what is open, since when, and what is at risk", () => {
  const text = renderText(MONTH, [sampleReport()], NOW_MS);
  expect(text).toContain("biz_<b>1</b> (connection default), 2026-11-01 to 2026-11-30");
  expect(text).toMatch(/^ {2}net +4003 +1,063,247\.68 +170,119\.62 +1,233,367\.30$/m);
  expect(text).toMatch(/^ {2}E 8 % +0\.00 +0\.00 +0\.00 +812\.50 +0\.00$/m);
  expect(text).toMatch(/INV-<script> +rejected +rejected: the tax authority said no.* 2 d 7 h +700\.20$/m);
  expect(text).toMatch(/^ {2}INV-9 +awaiting-authority +terminated +2026-11-21 14:00 EAT +232\.00$/m);
  expect(text).toMatch(/^ {2}all: carry them on with `fiscalflow sale restart` +232\.00$/m);
  expect(text).toMatch(/CN-1 \(credit note\) +awaiting-authority +nobody +10 min +1,200\.50$/m);
});

test("the CSV keeps amounts as they are, and gives a spreadsheet no formula", () => {
  const lines = renderCsv([sampleReport()]).split("\r\n");
  expect(lines[0]).toBe("connection,business,section,name,detail,count,total,taxable,tax");
  expect(lines).toContain("default,biz_<b>1</b>,credit notes,,,3,-1200.50,-1034.91,-165.59");
  expect(lines).toContain('default,biz_<b>1</b>,stock taken,item_tea,"\'=HYPERLINK(""http://x"")",,12.50,,');
  expect(lines).toContain("default,biz_<b>1</b>,at risk,,,2,1900.7,,");
  const ended = 'INV-9,"awaiting-authority, terminated 2026-11-21T11:00:00.000Z",,232,,';
  expect(lines).toContain(`default,biz_<b>1</b>,ended sale,${ended}`);
});

test("the page says the same, loads nothing, and obeys nobody's words", () => {
  const page = renderHtml(MONTH, [sampleReport()], NOW_MS);
  expect(page).toContain("1,233,367.30");
  expect(page).toContain("INV-&lt;script&gt;");
  expect(page).not.toMatch(/<script|<b>|<link|<img|url\(|@import|\bsrc=|href=/);
  expect(page.match(/<svg /g)).toHaveLength(3);
  expect(page.match(/<title>2026-11-\d\d: sales/g)).toHaveLength(30);
  expect(page).toContain("2026-11-04: sales 53,757.00, credit notes -4,200.50");
});

test("a page without any document is a page", () => {
  const empty = { count: 0, total: "0", taxableAmount: "0", taxAmount: "0" };
  const none = { sales: empty, creditNotes: empty, net: empty, taxes: [], payments: [], course: [], movements: [] };
  const page = renderHtml(
    periodOf("day", "2026-11-21", NOW_MS),
    [{ ...sampleReport(), ...none, open: [], atRisk: "0" }],
    NOW_MS,
  );
  expect(page).toContain("Nothing is open, and nobody is needed.");
  expect(page).not.toContain("NaN");
  expect(renderHtml(MONTH, [], NOW_MS)).toContain("has no documents");
});
