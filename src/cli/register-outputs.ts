import type { Command } from "commander";

import { calendarDate } from "../contract/schema/parse-input.ts";
import type { Days } from "../ledger/index.ts";
import { type CliContext, UsageError } from "./context.ts";
import { help, parsedBy, parseInvoice, type ResultFlags, type Scope, withFilters, withScope } from "./options.ts";
import { type FormatFlags, withFormats } from "./output.ts";

/** The commands that write documents: each in several formats, to standard output or to a file. */

export const RECEIPT_FORMATS = ["text", "escpos", "html", "pdf", "original", "json"] as const;

export type ReceiptFormat = (typeof RECEIPT_FORMATS)[number];

export interface ReceiptFlags extends Scope, ResultFlags, FormatFlags<ReceiptFormat> {
  creditNote?: boolean;
}

export function registerReceipt(program: Command, context: CliContext): void {
  const command = program
    .command("receipt")
    .description("Print the receipt of a sale or a credit note, or download the API's own.")
    .argument("<invoice>", "the sale's number, or a credit note's own", parseInvoice)
    .option("--credit-note", "the sale's credit note is meant, not the sale");
  withScope(withFormats(command, RECEIPT_FORMATS))
    .addHelpText(
      ...help(
        `Formats: text (42 columns), escpos (for a receipt printer of 80 mm), html, pdf, original (the API's own file), json (the signed
values alone). What the tax authority has not signed is printed as provisional.`,
        "fiscalflow receipt INV-1001 --out INV-1001.pdf",
        "fiscalflow receipt INV-1001 --format escpos > /dev/usb/lp0",
      ),
    )
    .action(async (invoice: string, flags: ReceiptFlags) =>
      (await import("./receipt/receipt.ts")).receipt(context, invoice, flags),
    );
}

/** `report` and `documents`, from the ledger alone. */
export function registerReports(program: Command, context: CliContext): void {
  registerReport(program, context);
  registerDocuments(program, context);
}

const PERIODS = [
  ["day", "YYYY-MM-DD (default: today)"],
  ["month", "YYYY-MM or a day in it (default: this month)"],
] as const;

export const REPORT_FORMATS = ["text", "html", "json"] as const;

export interface ReportFlags extends Scope, ResultFlags, FormatFlags<(typeof REPORT_FORMATS)[number]> {
  date?: string;
}

function registerReport(program: Command, context: CliContext): void {
  const report = program
    .command("report")
    .description("Report sales, credit notes, tax by rate, stock and open items, from the ledger.")
    .addHelpText(...help("", "fiscalflow report day"));
  for (const [kind, date] of PERIODS) {
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
      .action(async (flags: ReportFlags) => (await import("./report/run-report.ts")).runReport(context, kind, flags));
  }
}

export const LIST_FORMATS = ["text", "csv", "json"] as const;

interface ListFlags extends Scope, ResultFlags, FormatFlags<(typeof LIST_FORMATS)[number]> {}

/** Which days a list is asked for. */
export interface AskedList {
  kind: "day" | "month" | "period";
  days: Days;
  flags: ListFlags;
}

export type RunList = (context: CliContext, asked: AskedList) => Promise<void>;

function registerDocuments(program: Command, context: CliContext): void {
  const documents = program
    .command("documents")
    .description("List every sale and credit note of a period, for the tax return, from the ledger.")
    .addHelpText(...help("", "fiscalflow documents month --out documents.csv"));
  registerList(documents, context, withFilters, async (...asked) =>
    (await import("./lists/documents.ts")).listDocuments(...asked),
  );
}

/**
 * `day`, `month` and `period` of a group: the rows of these days, as a table, CSV or JSON.
 * @param withOwners adds the flags that say whose rows are listed
 */
export function registerList(
  group: Command,
  context: CliContext,
  withOwners: (command: Command) => Command,
  run: RunList,
): void {
  const command = (name: string, days: string, example: string): Command => {
    const nouns = group.name().replace("-", " ");
    const list = group.command(name).description(`List the ${nouns} of ${days} (Africa/Nairobi), from the ledger.`);
    return withOwners(withFormats(list, LIST_FORMATS)).addHelpText(
      ...help("", `fiscalflow ${group.name()} ${example} --format csv`),
    );
  };
  for (const [kind, date] of PERIODS)
    command(kind, `one ${kind}`, kind)
      .option("--date <date>", `the ${kind}, ${date}`)
      .action(async (flags: ListFlags & { date?: string }) => {
        const { periodOf } = await import("./report/asked.ts");
        const { from, to } = periodOf(kind, flags.date, Date.now());
        await run(context, { kind, days: { from, to }, flags });
      });
  command("period", "any days", "period --from 2026-10-01 --to 2026-12-31")
    .requiredOption("--from <date>", "the first day, YYYY-MM-DD", parsedBy(calendarDate))
    .requiredOption("--to <date>", "the last day, YYYY-MM-DD", parsedBy(calendarDate))
    .action(({ from, to, ...flags }: ListFlags & Days) => {
      if (from > to) throw new UsageError(`--from ${from} is later than --to ${to}.`);
      return run(context, { kind: "period", days: { from, to }, flags });
    });
}
