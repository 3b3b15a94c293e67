import type { Command } from "commander";

import { calendarDate } from "../../contract/schema/parse-input.ts";
import type { Days } from "../../ledger/index.ts";
import { help, parsedBy } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { type ResultFlags, type Scope, withFilters as withBusinessFilters } from "../sale/scope.ts";
import { type FormatFlags, withFormats } from "../written-output.ts";

export const LIST_FORMATS = ["text", "csv", "json"] as const;

interface ListFlags extends Scope, ResultFlags, FormatFlags<(typeof LIST_FORMATS)[number]> {}

/** Which days a list is asked for. */
export interface AskedList {
  kind: "day" | "month" | "period";
  days: Days;
  flags: ListFlags;
}

export type RunList = (context: CliContext, asked: AskedList) => Promise<void>;

export function registerDocuments(program: Command, context: CliContext): void {
  const documents = program
    .command("documents")
    .description("List every sale and credit note of a period, for the tax return, from the ledger.")
    .addHelpText(...help("", "fiscalflow documents month --out documents.csv"));
  registerList(documents, context, withBusinessFilters, async (...asked) =>
    (await import("./documents.ts")).listDocuments(...asked),
  );
}

/**
 * `day`, `month` and `period` of a group: the rows of these days, as a table, CSV or JSON.
 * @param withFilters adds the flags that say whose rows are listed
 */
export function registerList(
  group: Command,
  context: CliContext,
  withFilters: (command: Command) => Command,
  run: RunList,
): void {
  const nouns = group.name().replace("-", " ");
  const command = (name: string, days: string): Command =>
    withFilters(
      withFormats(
        group.command(name).description(`List the ${nouns} of ${days} (Africa/Nairobi), from the ledger.`),
        LIST_FORMATS,
      ),
    );
  const listDated = async (kind: "day" | "month", flags: ListFlags & { date?: string }): Promise<void> => {
    const { periodOf } = await import("../report/asked.ts");
    const { from, to } = periodOf(kind, flags.date, Date.now());
    await run(context, { kind, days: { from, to }, flags });
  };
  command("day", "one day")
    .option("--date <date>", "the day, YYYY-MM-DD (default: today)")
    .addHelpText(...help("", `fiscalflow ${group.name()} day --format csv`))
    .action((flags: ListFlags) => listDated("day", flags));
  command("month", "one month")
    .option("--date <date>", "the month, YYYY-MM or a day in it (default: this month)")
    .addHelpText(...help("", `fiscalflow ${group.name()} month --format csv`))
    .action((flags: ListFlags) => listDated("month", flags));
  command("period", "any days")
    .requiredOption("--from <date>", "the first day, YYYY-MM-DD", parsedBy(calendarDate))
    .requiredOption("--to <date>", "the last day, YYYY-MM-DD", parsedBy(calendarDate))
    .addHelpText(...help("", `fiscalflow ${group.name()} period --from 2026-10-01 --to 2026-12-31 --format csv`))
    .action((flags: ListFlags & Days) => {
      if (flags.from > flags.to) throw new UsageError(`--from ${flags.from} is later than --to ${flags.to}.`);
      return run(context, { kind: "period", days: { from: flags.from, to: flags.to }, flags });
    });
}
