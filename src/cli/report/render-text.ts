import type { BusinessReport, Days, Period } from "../../ledger/index.ts";
import { plainLine } from "../../contract/plain-text.ts";
import { plainTable } from "../plain-table.ts";
import { standingOf } from "./period.ts";
import type { SellerOf } from "./seller-of.ts";
import { type ReportTable, tablesOf } from "./tables.ts";

export function renderText(
  period: Period,
  businesses: readonly BusinessReport[],
  nowMs: number,
  sellerOf: SellerOf = () => undefined,
): string {
  if (businesses.length === 0) return "The ledger has no documents of that connection and business.";
  return businesses.map((report) => businessText(period, report, nowMs, sellerOf)).join("\n\n\n");
}

export function titleOf({ from, to }: Days): string {
  return from === to ? from : `${from} to ${to}`;
}

/** `Duka Moja Ltd, PIN P051234567Z, biz_1 (connection default)`: as far as it is known who the business is. */
export function headOf(business: { connection: string; businessId: string }, sellerOf: SellerOf): string {
  const { connection, businessId } = business;
  const seller = sellerOf(business);
  const id = businessId === "-" ? (seller ? undefined : "The business") : businessId;
  const parts = [seller?.name, seller?.pin && `PIN ${seller.pin}`, id];
  const who = parts.filter((part) => part !== undefined && part !== "").join(", ");
  return plainLine(`${who} (connection ${connection})`);
}

function businessText(period: Period, report: BusinessReport, nowMs: number, sellerOf: SellerOf): string {
  const title = `${headOf(report, sellerOf)}, ${titleOf(period)}, amounts in KES`;
  const standing = standingOf(period, nowMs);
  const { tables, none } = tablesOf(report, nowMs);
  return [
    title,
    ...(standing === undefined ? [] : [standing]),
    ...tables.map(tableText),
    ...(none === "" ? [] : [none]),
  ].join("\n\n");
}

function tableText({ title, head, right, rows }: ReportTable): string {
  const lines = plainTable(head, rows, right).split("\n");
  return [title, ...lines.map((line) => `  ${line.trimEnd()}`)].join("\n");
}
