import type { Command } from "commander";

import { calendarDate } from "../../contract/schema/parse-input.ts";
import type { Days } from "../../ledger/index.ts";
import { help, parsedBy } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { BOM_FLAG } from "../csv.ts";
import { type FormatFlags, withFormats } from "../format.ts";
import { type ResultFlags, type Scope, withFilters as withBusinessFilters } from "../sale/scope.ts";

type ListFormat = "text" | "csv" | "json";

interface ListFlags extends Scope, ResultFlags, FormatFlags<ListFormat> {
  bom?: boolean;
}

/** Which days a list is asked for. */
export interface AskedList {
  kind: "day" | "month" | "period";
  days: Days;
  flags: ListFlags;
}

export type RunList = (context: CliContext, asked: AskedList) => Promise<void>;

interface RegisteredList {
  /** `documents`: also what the group is called. */
  nouns: string;
  noun: string;
  /** When a row belongs to a period, and what counts: a paragraph of the help. */
  counts: string;
  /** Adds the flags that say whose rows are listed. */
  withFilters: (command: Command) => Command;
  run: RunList;
}

export function registerDocuments(program: Command, context: CliContext): void {
  const documents = program
    .command("documents")
    .description("List every sale and credit note of a period, for the tax return, from the ledger.")
    .addHelpText(...help("", "fiscalflow documents month --out documents.csv"));
  registerList(documents, context, {
    nouns: "documents",
    noun: "document",
    counts:
      "Documents are listed by their own date. They count once the tax authority has accepted them (status completed).",
    withFilters: withBusinessFilters,
    run: async (...asked) => (await import("./documents.ts")).listDocuments(...asked),
  });
}

/** `day`, `month` and `period` of a group: the rows of these days, as a table, CSV or JSON. */
export function registerList(
  group: Command,
  context: CliContext,
  { nouns, noun, counts, withFilters, run }: RegisteredList,
): void {
  const command = (name: string, days: string, example: string): Command =>
    withFilters(
      withFormats(group.command(name).description(`List the ${nouns} of ${days} (Africa/Nairobi), from the ledger.`), [
        "text",
        "csv",
        "json",
      ] satisfies ListFormat[]).option(...BOM_FLAG),
    ).addHelpText(
      ...help(
        `Formats: text (a table), csv (one line for each ${noun}), json.
${counts}`,
        `fiscalflow ${group.name()} ${example} --format csv`,
      ),
    );
  const listDated = async (kind: "day" | "month", flags: ListFlags & { date?: string }): Promise<void> => {
    const { periodOf } = await import("../report/asked.ts");
    const { from, to } = periodOf(kind, flags.date, Date.now());
    await run(context, { kind, days: { from, to }, flags });
  };
  command("day", "one day", "day")
    .option("--date <date>", "the day, YYYY-MM-DD (default: today)")
    .action((flags: ListFlags) => listDated("day", flags));
  command("month", "one month", "month")
    .option("--date <date>", "the month, YYYY-MM or a day in it (default: this month)")
    .action((flags: ListFlags) => listDated("month", flags));
  const date = (name: string) => `the day it ${name}, YYYY-MM-DD; the day is included`;
  command("period", "any days", "period --from 2026-10-01 --to 2026-12-31")
    .requiredOption("--from <date>", date("begins with"), parsedBy(calendarDate))
    .requiredOption("--to <date>", date("ends with"), parsedBy(calendarDate))
    .action((flags: ListFlags & Days) => {
      if (flags.from > flags.to) throw new UsageError(`--from ${flags.from} is later than --to ${flags.to}.`);
      return run(context, { kind: "period", days: { from: flags.from, to: flags.to }, flags });
    });
}
