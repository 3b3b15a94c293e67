import type { Command } from "commander";

import type { Period } from "../../ledger/index.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { BOM_FLAG, BYTE_ORDER_MARK } from "../csv.ts";
import { withInstants } from "../instants.ts";
import { printNote, printResult } from "../output.ts";
import { parseText, type ResultFlags, type Scope, withFilters } from "../sale/scope.ts";
import type { WholeFile } from "../whole-file.ts";
import { configuredNote } from "./configured-note.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import { configuredSeller, withSeller } from "./seller-of.ts";

interface ReportFlags extends Scope, ResultFlags {
  date?: string;
  csv?: boolean;
  bom?: boolean;
  html?: string;
  force?: boolean;
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
  registerPeriod(report, context, "month", "YYYY-MM", "this month");
}

function registerPeriod(
  report: Command,
  context: CliContext,
  kind: Period["kind"],
  form: string,
  byDefault: string,
): void {
  withFilters(
    report
      .command(kind)
      .description(`Report one ${kind} (Africa/Nairobi), business by business.`)
      .option("--date <date>", `the ${kind}, ${form} (default: ${byDefault})`)
      .option("--csv", "print the figures as CSV, one per line")
      .option(...BOM_FLAG)
      .option("--html <file>", "write a page with charts to this file; it loads nothing from the network", parseText)
      .option("--force", "replace the file if it exists"),
  )
    .addHelpText(
      "after",
      `
Documents count on their own date, once the tax authority has accepted them.

Example:
  fiscalflow report ${kind} --html ${kind}.html`,
    )
    .action((flags: ReportFlags) => runReport(context, kind, flags));
}

async function runReport(context: CliContext, kind: Period["kind"], flags: ReportFlags): Promise<void> {
  const { periodOf, standingOf } = await import("./period.ts");
  const { withLedger } = await import("../with-ledger.ts");
  if (flags.csv === true && flags.json === true) throw new UsageError("Give --csv or --json, not both.");
  const { html, bom = false, force = false } = flags;
  if (bom && flags.csv !== true) throw new UsageError("--bom belongs to --csv.");
  if (force && html === undefined) throw new UsageError("--force belongs to --html.");
  const { refuseExisting, withWholeFile } = await import("../whole-file.ts");
  if (html !== undefined && !force) await refuseExisting(html, "--html");
  const nowMs = Date.now();
  const period = periodOf(kind, flags.date, nowMs);
  const { connection, business: businessId } = flags;
  const { businesses, sellerOf } = await withLedger(
    context,
    async (ledger, config) => {
      await refuseUnknown(ledger, config, flags);
      const reports = await ledger.reports.read({ period, connection, businessId });
      const note = configuredNote(config, flags, reports);
      if (note !== undefined) printNote(context, note);
      return { businesses: reports, sellerOf: configuredSeller(config) };
    },
    { forMachines: flags.csv === true || flags.json === true },
  );
  const standing = standingOf(period, nowMs);
  // The page for people says it itself.
  if (standing !== undefined && (flags.csv === true || flags.json === true)) printNote(context, standing);
  if (html !== undefined) {
    const { renderHtml } = await import("./render-html.ts");
    const page = renderHtml(period, businesses, nowMs, sellerOf);
    const write = async (whole: WholeFile): Promise<void> => {
      await whole.append(page);
      await whole.keepAs(html, { force });
    };
    await withWholeFile(html, write, "--html");
    printNote(context, `Written to ${html}.`);
    if (flags.csv !== true && flags.json !== true) return;
  }
  if (flags.csv === true) {
    const { renderCsv } = await import("./render-csv.ts");
    context.stdout.write(`${bom ? BYTE_ORDER_MARK : ""}${renderCsv(period, businesses, nowMs)}\r\n`);
    return;
  }
  const { renderText } = await import("./render-text.ts");
  const { withAmounts } = await import("./money.ts");
  const told = businesses.map((report) => withSeller(report, sellerOf));
  const data = { period, madeAtMs: nowMs, standing: standing ?? null, businesses: withAmounts(told, AMOUNTS) };
  const text = renderText(period, businesses, nowMs, sellerOf);
  printResult(context, flags.json, withInstants(data), text);
}
