import type { Command } from "commander";

import { calendarDate } from "../../contract/schema/fields.ts";
import type { Days } from "../../ledger/index.ts";
import { parsedBy } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { BOM_FLAG } from "../csv.ts";
import { type FormatFlags, withFormats } from "../format.ts";
import { type ResultFlags, type Scope } from "../sale/scope.ts";
import type { Owner, PeriodList } from "./list.ts";

type ListFormat = "text" | "csv" | "json";

export interface ListFlags extends Scope, ResultFlags, FormatFlags<ListFormat> {
  bom?: boolean;
}

interface RegisteredList<One extends Owner<Row>, Row> {
  /** `documents`: also what the group is called. */
  nouns: string;
  noun: string;
  /** When a row belongs to a period, and what counts: a paragraph of the help. */
  counts: string;
  /** Adds the flags that say whose rows are listed. */
  withFilters: (command: Command) => Command;
  load: () => Promise<PeriodList<One, Row>>;
}

/** `day`, `month` and `period` of a group: the rows of these days, as a table, CSV or JSON. */
export function registerList<One extends Owner<Row>, Row>(
  group: Command,
  context: CliContext,
  { nouns, noun, counts, withFilters, load }: RegisteredList<One, Row>,
): void {
  const command = (name: string, days: string, example: string): Command =>
    withFilters(
      withFormats(group.command(name).description(`List the ${nouns} of ${days} (Africa/Nairobi), from the ledger.`), [
        "text",
        "csv",
        "json",
      ] satisfies ListFormat[]).option(...BOM_FLAG),
    ).addHelpText(
      "after",
      `
Formats: text (a table), csv (one line for each ${noun}), json.
${counts}

Example:
  fiscalflow ${group.name()} ${example} --format csv`,
    );
  const list = async (kind: "day" | "month" | "period", days: Days, flags: ListFlags): Promise<void> => {
    const { runList } = await import("./run-list.ts");
    await runList(context, await load(), { kind, days, flags });
  };
  const listDated = async (kind: "day" | "month", flags: ListFlags & { date?: string }): Promise<void> => {
    const { periodOf } = await import("../report/period.ts");
    const { from, to } = periodOf(kind, flags.date, Date.now());
    await list(kind, { from, to }, flags);
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
      return list("period", { from: flags.from, to: flags.to }, flags);
    });
}
