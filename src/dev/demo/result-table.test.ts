import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, it } from "vitest";

import type { Books } from "../simulator/index.ts";
import { countCalls } from "./count-calls.ts";
import type { DemoPlan } from "./demo-plan.ts";
import type { DemoTemporal } from "./demo-temporal.ts";
import { resultTable } from "./result-table.ts";
import type { SaleProgress } from "./sale-progress.ts";
import { colourPaint, plainPaint } from "./screens.ts";
import { refundedSale } from "./test-support/refunded-sale.ts";

const LINK = "http://127.0.0.1:8233/namespaces/default/workflows/sale%2Fdefault%2Fbiz_demo%2FDUKA-1007";
const temporal: DemoTemporal = {
  connectionOptions: { address: "127.0.0.1:7233" },
  namespace: "default",
  uiUrl: "http://127.0.0.1:8233",
  own: true,
};

let run: { plan: DemoPlan; sales: SaleProgress[]; books: Books };
beforeAll(async () => {
  run = await refundedSale();
});

function table(options: { columns?: number; temporal?: DemoTemporal; paint?: typeof plainPaint } = {}): string {
  const counts = countCalls(run.plan, run.books.callLog);
  return resultTable({ sales: run.sales, counts, temporal, columns: undefined, paint: plainPaint, ...options });
}

it("the result table shows invoice, stage, receipts, API calls, seconds and the link of each sale", () => {
  const [, , , row, , footnote] = table().split("\n");
  const cells = row?.split("│").map((cell) => cell.trim());
  expect(cells).toEqual([
    "",
    "DUKA-1007",
    "refunded with a credit note",
    "credited",
    "NS 1, NC 1",
    "4",
    "3.9",
    LINK,
    "",
  ]);
  expect(footnote).toBe("4 API calls, and 0 readings of the catalogue for all of them.");
});

it("the result table puts links below itself on a narrow screen, with and without colours", () => {
  const lines = table({ columns: 100, paint: colourPaint }).split("\n");
  expect(lines.at(-1)).toBe(`DUKA-1007  ${LINK}`);
  const visible = lines.filter((line) => /^[│┌├└]/.test(line)).map(stripVTControlCharacters);
  expect(new Set(visible.map((line) => line.length)).size).toBe(1);
  expect(visible[0]?.length).toBeLessThanOrEqual(100);
});

it("the result table names the workflow where the UI's address is unknown", () => {
  expect(table({ temporal: { ...temporal, uiUrl: undefined } })).toContain("│ sale/default/biz_demo/DUKA-1007 │");
});
