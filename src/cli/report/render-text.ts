import type { BusinessReport, Period } from "../../ledger/index.ts";
import { plainTable } from "../plain-table.ts";
import { type ReportTable, tablesOf } from "./tables.ts";

export function renderText(period: Period, businesses: readonly BusinessReport[], nowMs: number): string {
  if (businesses.length === 0) return "The ledger has no documents of that connection and business.";
  return businesses.map((report) => businessText(period, report, nowMs)).join("\n\n\n");
}

export function titleOf(period: Period): string {
  return period.kind === "day" ? period.from : `${period.from} to ${period.to}`;
}

function businessText(period: Period, report: BusinessReport, nowMs: number): string {
  const { connection, businessId } = report;
  const title = `${businessId === "-" ? "The business" : businessId} (connection ${connection}), ${titleOf(period)}, amounts in KES`;
  const { tables, none } = tablesOf(report, nowMs);
  return [title, ...tables.map(tableText), ...(none === "" ? [] : [none])].join("\n\n");
}

function tableText({ title, head, right, rows }: ReportTable): string {
  const lines = plainTable(head, rows, right).split("\n");
  return [title, ...lines.map((line) => `  ${line.trimEnd()}`)].join("\n");
}
