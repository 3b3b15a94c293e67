import type { Command } from "commander";
import { resolve } from "node:path";

import { calendarDate } from "../../contract/schema/calendar-date.ts";
import type { BusinessDocuments, Days } from "../../ledger/index.ts";
import { parsedBy } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printable, printNote, written } from "../output.ts";
import { configuredNote } from "../report/configured-note.ts";
import { refuseUnknown } from "../report/refuse-unknown.ts";
import { configuredSeller } from "../report/seller-of.ts";
import { parseText, type ResultFlags, type Scope, withFilters } from "../sale/scope.ts";
import type { ListHead } from "./list-head.ts";

interface DocumentsFlags extends Scope, ResultFlags {
  csv?: boolean;
  out?: string;
  force?: boolean;
}

export function registerDocuments(program: Command, context: CliContext): void {
  const documents = program
    .command("documents")
    .description("List every sale and credit note of a period, for the tax return, from the ledger.")
    .addHelpText(
      "after",
      `
Example:
  fiscalflow documents month --csv --out documents.csv`,
    );
  const date = (name: string) => `the day it ${name}, YYYY-MM-DD; the day is included`;
  withOutput(documents.command("day").description("List the documents of one day (Africa/Nairobi)."), "day")
    .option("--date <date>", "the day, YYYY-MM-DD (default: today)")
    .action((flags: DocumentsFlags & { date?: string }) => listDated(context, "day", flags));
  withOutput(documents.command("month").description("List the documents of one month (Africa/Nairobi)."), "month")
    .option("--date <date>", "the month, YYYY-MM (default: this month)")
    .action((flags: DocumentsFlags & { date?: string }) => listDated(context, "month", flags));
  withOutput(
    documents.command("period").description("List the documents of any days (Africa/Nairobi)."),
    "period --from 2026-10-01 --to 2026-12-31",
  )
    .requiredOption("--from <date>", date("begins with"), parsedBy(calendarDate))
    .requiredOption("--to <date>", date("ends with"), parsedBy(calendarDate))
    .action((flags: DocumentsFlags & Days) => {
      if (flags.from > flags.to) throw new UsageError(`--from ${flags.from} is later than --to ${flags.to}.`);
      return listDocuments(context, "period", { from: flags.from, to: flags.to }, flags);
    });
}

function withOutput(command: Command, example: string): Command {
  return withFilters(
    command
      .option("--csv", "print one line for each document as CSV")
      .option("--out <file>", "write to this file, which appears once it is complete", parseText)
      .option("--force", "replace the file if it exists"),
  ).addHelpText(
    "after",
    `
Documents are listed by their own date. They count once the tax authority has accepted them (status completed).

Example:
  fiscalflow documents ${example} --csv`,
  );
}

async function listDated(
  context: CliContext,
  kind: "day" | "month",
  flags: DocumentsFlags & { date?: string },
): Promise<void> {
  const { periodOf } = await import("../report/period.ts");
  const { from, to } = periodOf(kind, flags.date, Date.now());
  await listDocuments(context, kind, { from, to }, flags);
}

type Render = (head: ListHead, businesses: readonly BusinessDocuments[]) => AsyncIterable<string>;

async function listDocuments(
  context: CliContext,
  kind: "day" | "month" | "period",
  days: Days,
  flags: DocumentsFlags,
): Promise<void> {
  const { csv = false, json = false, out, force = false, connection, business: businessId } = flags;
  if (csv && json) throw new UsageError("Give --csv or --json, not both.");
  if (force && out === undefined) throw new UsageError("--force belongs to --out.");
  const { refuseExisting, withWholeFile } = await import("../whole-file.ts");
  if (out !== undefined && !force) await refuseExisting(out);
  const { withLedger } = await import("../with-ledger.ts");
  const { standingOf } = await import("../report/period.ts");
  const { notesOf } = await import("./notes.ts");
  const render = await renderer(flags);
  const standing = standingOf({ kind, ...days }, Date.now());
  await withLedger(
    context,
    async (ledger, config) => {
      await refuseUnknown(ledger, config, flags);
      await ledger.reports.documents({ days, connection, businessId }, async (businesses) => {
        const head: ListHead = { days, standing, sellerOf: configuredSeller(config) };
        // The page for people says it itself.
        if (standing !== undefined && (csv || json)) printNote(context, standing);
        const write = async (append: (piece: string) => Promise<void>): Promise<void> => {
          for await (const piece of render(head, businesses)) {
            // A list that nobody waits for holds the ledger's connection.
            context.signal.throwIfAborted();
            await append(piece);
          }
        };
        if (out === undefined) await write((piece) => written(context, piece));
        else {
          const file = resolve(out);
          await withWholeFile(file, async (whole) => {
            await write((piece) => whole.append(piece));
            await whole.keepAs(file, { force });
          });
        }
        if (csv) for (const note of notesOf(businesses)) printNote(context, note);
        const left = configuredNote(config, flags, businesses);
        if (left !== undefined) printNote(context, left);
      });
    },
    { forMachines: csv || json },
  );
  if (out !== undefined) printNote(context, `Written to ${out}.`);
}

async function renderer({ csv, json }: DocumentsFlags): Promise<Render> {
  if (csv === true) return (await import("./render-csv.ts")).renderCsv;
  if (json === true) return (await import("./render-json.ts")).renderJson;
  const { renderTable } = await import("./render-table.ts");
  return async function* printed(head, businesses) {
    for await (const piece of renderTable(head, businesses)) yield printable(piece);
  };
}
