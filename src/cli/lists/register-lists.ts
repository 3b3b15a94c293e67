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
  const command = (name: string, days: string, example: string): Command => {
    const nouns = group.name().replace("-", " ");
    const list = group.command(name).description(`List the ${nouns} of ${days} (Africa/Nairobi), from the ledger.`);
    return withFilters(withFormats(list, LIST_FORMATS)).addHelpText(
      ...help("", `fiscalflow ${group.name()} ${example} --format csv`),
    );
  };
  for (const [kind, date] of [
    ["day", "YYYY-MM-DD (default: today)"],
    ["month", "YYYY-MM or a day in it (default: this month)"],
  ] as const)
    command(kind, `one ${kind}`, kind)
      .option("--date <date>", `the ${kind}, ${date}`)
      .action(async (flags: ListFlags & { date?: string }) => {
        const { periodOf } = await import("../report/asked.ts");
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
