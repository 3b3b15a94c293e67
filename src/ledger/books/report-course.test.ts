import { expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { documentOf, keepRecord, recordOf, someBusiness, WRITER } from "../test-support/records.ts";

const test = ledgerOfSuite();

const DATE = "2026-11-20";
const MONTH = { kind: "month", from: "2026-11-01", to: "2026-11-30" } as const;

it("of a day has its documents by the hour of their start, and apart those that were started on another day", async () => {
  const business = someBusiness();
  const save = async (number: string, startedAt: string, type: "sale" | "credit_note" = "sale"): Promise<void> => {
    const sign = type === "sale" ? 1 : -1;
    const totals = { total: sign * 700.2, taxableAmount: sign * 603.62, taxAmount: sign * 96.58 };
    const document = documentOf(number, { type, saleDate: DATE, totals });
    const record = recordOf(number, { type, document, startedAtMs: Date.parse(startedAt), movements: [] });
    await keepRecord(test.ledger, business, record, WRITER);
  };
  await save("INV-EVE", "2026-11-19T23:59:59+03:00");
  await save("INV-NEXT", "2026-11-21T00:00:00+03:00");
  await save("INV-FIRST", "2026-11-20T00:00:00+03:00");
  await save("INV-LAST", "2026-11-20T23:59:59+03:00");
  await save("CN-LAST", "2026-11-20T23:00:00+03:00", "credit_note");
  await save("CN-NEXT", "2026-11-21T00:00:00+03:00", "credit_note");
  const day = { kind: "day", from: DATE, to: DATE } as const;
  const [report] = await test.ledger.reports.read({ period: day, ...business });
  expect(report?.course).toEqual([
    { at: "00", sales: "700.2", creditNotes: "0" },
    { at: "23", sales: "700.2", creditNotes: "-700.2" },
  ]);
  expect(report?.notInCourse).toEqual({
    sales: { count: 2, total: "1400.4" },
    creditNotes: { count: 1, total: "-700.2" },
  });
  expect(report?.net.count).toBe(6);

  const [month] = await test.ledger.reports.read({ period: MONTH, ...business });
  expect(month?.course).toEqual([{ at: DATE, sales: "2800.8", creditNotes: "-1400.4" }]);
  const none = { count: 0, total: "0" };
  expect(month?.notInCourse).toEqual({ sales: none, creditNotes: none });
});
