import type { Command } from "commander";

import { help } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import { type ResultFlags, type Scope, withFilters } from "../sale/scope.ts";
import { type FormatFlags, withFormats } from "../written-output.ts";

export const REPORT_FORMATS = ["text", "html", "json"] as const;

export interface ReportFlags extends Scope, ResultFlags, FormatFlags<(typeof REPORT_FORMATS)[number]> {
  date?: string;
}

export function registerReport(program: Command, context: CliContext): void {
  const report = program
    .command("report")
    .description("Report sales, credit notes, tax by rate, stock and open items, from the ledger.")
    .addHelpText(...help("", "fiscalflow report day"));
  for (const [kind, date] of [
    ["day", "YYYY-MM-DD (default: today)"],
    ["month", "YYYY-MM or a day in it (default: this month)"],
  ] as const) {
    const command = report
      .command(kind)
      .description(`Report one ${kind} (Africa/Nairobi), business by business.`)
      .option("--date <date>", `the ${kind}, ${date}`);
    withFilters(withFormats(command, REPORT_FORMATS))
      .addHelpText(
        ...help(
          "Formats: text, html (a page with charts, which loads nothing from the network), json.",
          `fiscalflow report ${kind} --out ${kind}.html`,
        ),
      )
      .action(async (flags: ReportFlags) => (await import("./run-report.ts")).runReport(context, kind, flags));
  }
}
