import { expect, it } from "vitest";

import type { SaleDocument } from "../../contract/index.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { documentOf, keepRecord, recordOf, someBusiness, WRITER } from "../test-support/records.ts";
import type { BusinessDocuments } from "./report-types.ts";
import { verified } from "../test-support/verified.ts";

const test = ledgerOfSuite();

const DAYS = { from: "2026-11-01", to: "2026-11-30" };
const ODD = "zero \0 and half \ud800";

async function taxesOf(documents: SaleDocument[]) {
  const business = someBusiness();
  for (const document of documents)
    await keepRecord(test.ledger, business, recordOf(document.traderInvoiceNumber, { document }), WRITER);
  expect((await verified(test.ledger, business)).findings).toEqual([]);
  const [report] = await test.ledger.reports.read({ period: { kind: "month", ...DAYS }, ...business });
  const listed = await test.ledger.reports.documents({ days: DAYS, ...business }, async ([one]) => await rowsOf(one));
  return {
    count: report?.net.count,
    inAll: report?.taxes.map(({ taxRate, taxTypeCode, net }) => ({ taxRate, taxTypeCode, ...net })),
    each: listed.map(({ taxes }) => taxes),
  };
}

async function rowsOf(business: BusinessDocuments | undefined) {
  const rows = [];
  for await (const page of business?.pages() ?? []) rows.push(...page);
  return rows;
}

const [LINE, SMALL] = documentOf("INV-1").lines as [SaleDocument["lines"][number], SaleDocument["lines"][number]];
const OF_LINE = { total: "700.2", taxableAmount: "603.62", taxAmount: "96.58" };
const OF_BOTH = {
  taxRate: "16",
  taxTypeCode: "B",
  total: "700.20000005",
  taxableAmount: "1207.24",
  taxAmount: "96.58",
};

it("amounts by rate are the sums of the lines as they are written, without a letter where there is none", async () => {
  const exempt = { ...LINE, taxRate: 0, taxTypeCode: "" };
  const ofExempt = { taxRate: "0", taxTypeCode: null, ...OF_LINE };
  expect(await taxesOf([documentOf("INV-1"), documentOf("INV-2", { lines: [exempt] })])).toEqual({
    count: 2,
    inAll: [OF_BOTH, ofExempt],
    each: [[OF_BOTH], [ofExempt]],
  });
});

it("a document whose lines the ledger does not have yet counts, and is in no rate", async () => {
  const goods: [string, number, number][] = [["item_tea", 2, 350.1]];
  const short = documentOf("INV-1", { lines: [], linesLeftOut: { count: 1_000, goods } });
  expect(await taxesOf([short])).toEqual({ count: 1, inAll: [], each: [[]] });
});

it("texts that PostgreSQL cannot keep spoil no sum, wherever a document has them", async () => {
  const lines = [{ ...LINE, name: ODD, [ODD]: [{ [ODD]: ODD }] }, SMALL];
  const odd = documentOf("INV-1", { lines, error: ODD, customer: { name: ODD } });
  expect(await taxesOf([odd])).toEqual({ count: 1, inAll: [OF_BOTH], each: [[OF_BOTH]] });
});
