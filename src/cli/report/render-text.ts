import Table from "cli-table3";

import type { BusinessReport, Period } from "../../ledger/index.ts";
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
  const title = `${businessId === "-" ? "The business" : businessId} (connection ${connection}), ${titleOf(period)}`;
  return [title, ...tablesOf(report, nowMs).map(tableText)].join("\n\n");
}

const NO_LINES = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"]
    .concat(["left", "left-mid", "mid", "mid-mid", "right", "right-mid"])
    .map((name) => [name, ""]),
);

function tableText({ title, head, right, rows, none }: ReportTable): string {
  if (rows.length === 0) return `${title}\n  ${none}`;
  const table = new Table({
    head,
    colAligns: head.map((_, column) => (right.includes(column) ? "right" : "left")),
    chars: { ...NO_LINES, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows);
  const lines = table.toString().split("\n");
  return [title, ...lines.map((line) => `  ${line.trimEnd()}`)].join("\n");
}
