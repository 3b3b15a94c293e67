import type { Command } from "commander";

import { plainText } from "../../contract/plain-text.ts";
import type { BusinessReport, Period } from "../../ledger/index.ts";
import type { CliContext } from "../context.ts";
import { BOM_FLAG, BYTE_ORDER_MARK } from "../csv.ts";
import { type FormatFlags, formatOf, withFormats } from "../format.ts";
import { withInstants } from "../instants.ts";
import { jsonText, printNote } from "../output.ts";
import { type ResultFlags, type Scope, withFilters } from "../sale/scope.ts";
import type { ReportHead } from "./tables.ts";

const FORMATS = ["text", "csv", "html", "json"] as const;

type ReportFormat = (typeof FORMATS)[number];

const BY_ENDING: Readonly<Record<string, ReportFormat>> = {
  ".csv": "csv",
  ".html": "html",
  ".htm": "html",
  ".txt": "text",
};

interface ReportFlags extends Scope, ResultFlags, FormatFlags<ReportFormat> {
  date?: string;
  bom?: boolean;
}

/** Fields of the JSON that hold decimal texts of amounts. `sales` and `creditNotes` do in the course. */
const AMOUNTS: ReadonlySet<string> = new Set([
  "total",
  "taxableAmount",
  "taxAmount",
  "sales",
  "creditNotes",
  "atRisk",
  "amount",
]);

export function registerReport(program: Command, context: CliContext): void {
  const report = program
    .command("report")
    .description("Report sales, credit notes, tax by rate, stock and open items, from the ledger.")
    .addHelpText(
      "after",
      `
Example:
  fiscalflow report day`,
    );
  registerPeriod(report, context, "day", "YYYY-MM-DD", "today");
  registerPeriod(report, context, "month", "YYYY-MM or a day in it", "this month");
}

function registerPeriod(
  report: Command,
  context: CliContext,
  kind: Period["kind"],
  form: string,
  byDefault: string,
): void {
  const command = report
    .command(kind)
    .description(`Report one ${kind} (Africa/Nairobi), business by business.`)
    .option("--date <date>", `the ${kind}, ${form} (default: ${byDefault})`);
  withFilters(withFormats(command, FORMATS).option(...BOM_FLAG))
    .addHelpText(
      "after",
      `
Formats: text, csv (one figure per line), html (a page with charts, which loads nothing from the network), json.
Documents count on their own date, once the tax authority has accepted them.

Example:
  fiscalflow report ${kind} --out ${kind}.html`,
    )
    .action((flags: ReportFlags) => runReport(context, kind, flags));
}

async function runReport(context: CliContext, kind: Period["kind"], flags: ReportFlags): Promise<void> {
  const { configuredNote, configuredSeller, periodOf, refuseUnknown, standingOf } = await import("./asked.ts");
  const { withLedger } = await import("../with-ledger.ts");
  const { refuseExisting, writeResult } = await import("../whole-file.ts");
  const format = formatOf(flags, BY_ENDING);
  const forMachines = format === "csv" || format === "json";
  const { out, force = false, connection, business: businessId } = flags;
  if (out !== undefined && !force) await refuseExisting(out);
  const nowMs = Date.now();
  const period = periodOf(kind, flags.date, nowMs);
  const { businesses, sellerOf } = await withLedger(
    context,
    async (ledger, config) => {
      await refuseUnknown(ledger, config, flags);
      const reports = await ledger.reports.read({ period, connection, businessId });
      const note = configuredNote(config, flags, reports);
      if (note !== undefined) printNote(context, note);
      return { businesses: reports, sellerOf: configuredSeller(config) };
    },
    { forMachines },
  );
  const standing = standingOf(period, nowMs);
  // The page for people says it itself.
  if (standing !== undefined && forMachines) printNote(context, standing);
  const text = await rendered(format, businesses, { period, nowMs, sellerOf });
  await writeResult(context, flags, [flags.bom ? `${BYTE_ORDER_MARK}${text}` : text]);
}

async function rendered(
  format: ReportFormat,
  businesses: readonly BusinessReport[],
  head: Required<ReportHead>,
): Promise<string> {
  const { renderCsv, renderText } = await import("./tables.ts");
  switch (format) {
    case "html":
      return (await import("./page.ts")).renderHtml(businesses, head);
    case "csv":
      return `${renderCsv(businesses, head)}\r\n`;
    case "text":
      return `${plainText(renderText(businesses, head))}\n`;
    case "json":
      return await renderJson(businesses, head);
  }
}

async function renderJson(
  businesses: readonly BusinessReport[],
  { period, nowMs, sellerOf }: Required<ReportHead>,
): Promise<string> {
  const { standingOf, withSeller } = await import("./asked.ts");
  const { withAmounts } = await import("./money.ts");
  const { isUnknownPaymentType } = await import("../../contract/codes.ts");
  const told = businesses.map((report) => {
    const payments = report.payments.map(({ paymentTypeCode, ...paid }) => {
      return { paymentTypeCode, paymentTypeUnknown: isUnknownPaymentType(paymentTypeCode), ...paid };
    });
    return withSeller({ ...report, payments }, sellerOf);
  });
  const standing = standingOf(period, nowMs) ?? null;
  const data = { period, madeAtMs: nowMs, standing, businesses: withAmounts(told, AMOUNTS) };
  return `${jsonText(withInstants(data), 2)}\n`;
}
