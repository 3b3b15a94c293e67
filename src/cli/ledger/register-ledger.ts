import type { Command } from "commander";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

import { type LedgerEvent, nairobiTime } from "../../contract/index.ts";
import { plainLine } from "../../contract/plain-text.ts";
import { eventCursor } from "../../contract/schema/job-inputs.ts";
import type { ChainFinding, RowFinding, SeenHead, VerifiedChain, VerifyRequest } from "../../ledger/index.ts";
import { type CliContext, CommandFailedError, UsageError } from "../context.ts";
import { businessOf, help, parsedBy, type ResultFlags, type Scope, withFilters, withScope } from "../options.ts";
import { counted, jsonText, printNote, printResult, written } from "../output.ts";
import { readJson } from "../read-json.ts";
import type { EraseFlags } from "./erase.ts";
import type { MoveFlags } from "./move.ts";
import type { RestoredFlags } from "./restored.ts";

/** `events` and `ledger`. */
export function registerLedger(program: Command, context: CliContext): void {
  registerEvents(program, context);
  const ledger = program
    .command("ledger")
    .description("Check the ledger, which is kept for years; move it; erase customers; say what a restore has lost.")
    .addHelpText(...help("", "fiscalflow ledger verify"));
  withFilters(
    ledger
      .command("verify")
      .description("Verify that nothing in the ledger was changed or removed since it was written.")
      .option("--against <file>", "the --json output of an earlier run; detects a chain that was rewritten as a whole")
      .option("--erasures <file>", "the file of `ledger erase`; detects what somebody else says to have erased"),
  )
    .addHelpText(
      ...help(
        "Ends with 1 where anything is found. Keep the file where the database's owner cannot write.",
        "fiscalflow ledger verify --json > seen.json",
        "fiscalflow ledger verify --against seen.json",
      ),
    )
    .action((flags: VerifyFlags) => runVerify(context, flags));
  ledger
    .command("restored")
    .description("Have the workers use the ledger's database again after it was restored, moved, or taken over.")
    .option("--at <instant>", "when the lost database was used last, as 2026-11-29T10:15:00Z", parsedBy(instant))
    .option("--lossless", "it has lost nothing: a failover to a synchronous replica, or a move")
    .option("--erasures <file>", "erase again what this file of `ledger erase` names: the backup may still have it")
    .option("--json", "print the result as JSON")
    .addHelpText(
      ...help(
        "Workers notice that the database is not as they left it, and send nothing that must not be sent twice until then.",
        "fiscalflow ledger restored --at 2026-11-29T10:15:00Z",
        "fiscalflow ledger restored --lossless",
      ),
    )
    .action(async (flags: RestoredFlags) => (await import("./restored.ts")).restored(context, flags));
  ledger
    .command("erase")
    .description("Erase what is said of customers, as far as the law no longer has it kept.")
    .option("--before <date>", "of all sales that are dated before this day, as 2021-01-31")
    .option("--customer-pin <pin>", "of the sales to this customer")
    .option("--erasures <file>", "append here which sales: to be kept apart from the database and its backups")
    .option("--dry-run", "only show what would be erased")
    .option("--json", "print the result as JSON")
    .addHelpText(
      ...help(
        "Sales within LEDGER_RETENTION_YEARS (default 5) lose telephone and email alone. Amounts, receipts and the chain of events stay. Ends with 1 if a sale is still open, and so left as it is.",
        "fiscalflow ledger erase --before 2021-01-01 --dry-run",
        "fiscalflow ledger erase --customer-pin A012345678Z --erasures /var/lib/fiscalflow/erasures.jsonl",
      ),
    )
    .action(async (flags: EraseFlags) => (await import("./erase.ts")).erase(context, flags));
  ledger
    .command("move")
    .description("Move the ledger that is kept in FISCALFLOW_HOME to an empty database of a PostgreSQL server.")
    .requiredOption("--to <url>", "its address, with the login that owns its tables; the password as PGPASSWORD")
    .option("--json", "print the result as JSON")
    .addHelpText(
      ...help(
        "Stop all workers first. `fiscalflow setup` makes the tables there, with LEDGER_URL and LEDGER_OWNER_URL of the server.",
        "PGPASSWORD=… fiscalflow ledger move --to postgres://ledger_owner@localhost:5432/ledger",
      ),
    )
    .action(async (flags: MoveFlags) => (await import("./move.ts")).move(context, flags));
}

const instant = z.iso.datetime({ offset: true, error: "expected an instant with its zone, as 2026-11-29T10:15:00Z" });

interface VerifyFlags extends Scope, ResultFlags {
  against?: string;
  erasures?: string;
}

async function runVerify(context: CliContext, flags: VerifyFlags): Promise<void> {
  const { withLedger } = await import("../with-ledger.ts");
  const seen = flags.against === undefined ? [] : await readSeen(context, flags.against);
  const chains = await withLedger(
    context,
    async (ledger) => {
      const verified: VerifiedChain[] = [];
      const { connection, business: businessId } = flags;
      const erasures = flags.erasures === undefined ? undefined : await listedErasures(context, flags.erasures);
      for await (const chain of ledger.verify({ connection, businessId, seen, erasures })) {
        verified.push(chain);
        if (flags.json !== true) printResult(context, false, undefined, chainText(chain));
      }
      return verified;
    },
    { quiet: flags.json === true, mayBeEmpty: seen.length > 0 },
  );
  const found = chains.reduce((sum, chain) => sum + chain.findings.length + chain.moreFindings, 0);
  const known = new Set(seen.map(chainName));
  const notInFile = chains.map(chainName).filter((name) => !known.has(name));
  const against = flags.against === undefined ? undefined : { compared: chains.length - notInFile.length, notInFile };
  if (flags.json === true) printResult(context, true, { ok: found === 0, chains, ...(against && { against }) }, "");
  if (against) {
    printNote(context, `Compared with ${flags.against}: ${counted(against.compared, "chain")}.`);
    if (notInFile.length > 0)
      printNote(context, `Not in ${flags.against}, so not compared with it: ${notInFile.join(", ")}.`);
  }
  if (chains.length === 0) printNote(context, "The ledger has no events of that connection and business.");
  if (found === 0) return;
  printNote(
    context,
    `${counted(found, "finding")}. What each means, and what to do: https://github.com/fiscalflow/fiscalflow/blob/main/docs/ledger.md#when-something-is-found`,
  );
  throw new CommandFailedError("");
}

/** In memory, a line for each document. @throws UsageError */
async function listedErasures(context: CliContext, path: string): Promise<VerifyRequest["erasures"]> {
  const { readErasures } = await import("./erasures.ts");
  const keyOf = (...parts: string[]): string => JSON.stringify(parts);
  const listed = new Set<string>();
  for await (const { connection, businessId, type, number } of readErasures(context, path))
    listed.add(keyOf(connection, businessId, `${type} ${number}`));
  return { has: ({ connection, businessId, subject }) => listed.has(keyOf(connection, businessId, subject)) };
}

function chainName({ connection, businessId }: { connection: string; businessId: string }): string {
  return `${connection}/${businessId}`;
}

const head = z.object({ count: z.int().nonnegative(), hash: z.string().regex(/^[0-9a-f]{64}$/) });
const verified = z.object({
  chains: z.array(z.object({ connection: z.string(), businessId: z.string(), head: head.nullable() })),
});

/** The heads that an earlier `ledger verify --json` printed. @throws UsageError */
async function readSeen(context: CliContext, path: string): Promise<SeenHead[]> {
  const parsed = verified.safeParse(await readJson(context, path, path));
  if (!parsed.success)
    throw new UsageError(`${path} is not what \`fiscalflow ledger verify --json\` printed: keep its output as it is.`);
  const heads = parsed.data.chains.flatMap(({ connection, businessId, head: seen }) =>
    seen === null ? [] : [{ connection, businessId, ...seen }],
  );
  if (heads.length === 0)
    throw new UsageError(`${path} has no chain with events, so there is nothing to compare the ledger with.`);
  return heads;
}

const LOOK_PAUSE_MS = 1_000;

interface EventsFlags extends Scope, ResultFlags {
  after?: string;
  follow?: boolean;
}

function registerEvents(program: Command, context: CliContext): void {
  withScope(
    program
      .command("events")
      .description("Print what happened to a business's documents, in order, from the ledger.")
      .option("--after <cursor>", "only what came after this event (default: from the first)", parsedBy(eventCursor))
      .option("--follow", "go on with what is to come, until interrupted"),
  )
    .addHelpText(
      ...help(
        `With --json each event is one line. Keep the cursor of the last one that you have dealt with, and go on from there: none is skipped.`,
        "fiscalflow events --after 120-3fa9c1d2e4b50718 --follow --json",
      ),
    )
    .action((flags: EventsFlags) => printEvents(context, flags));
}

async function printEvents(context: CliContext, flags: EventsFlags): Promise<void> {
  const { refuseUnknown } = await import("../report/asked.ts");
  const { withLedger } = await import("../with-ledger.ts");
  let cursor = flags.after;
  await withLedger(
    context,
    async (ledger, config) => {
      const { events } = ledger;
      const business = businessOf(config, flags);
      const { connection, businessId } = business;
      await refuseUnknown(ledger, config, { connection, business: businessId });
      while (!context.signal.aborted) {
        const page = await events.read(business, cursor);
        for (const event of page) await written(context, `${flags.json === true ? jsonText(event) : lineOf(event)}\n`);
        cursor = page.at(-1)?.cursor ?? cursor;
        if (page.length > 0) continue;
        if (flags.follow !== true) return;
        await delay(LOOK_PAUSE_MS, undefined, { signal: context.signal }).catch(() => undefined);
      }
    },
    { quiet: flags.json === true, mayBeEmpty: flags.follow === true },
  );
  if (flags.json !== true && cursor === undefined) printNote(context, "The ledger has no events of that business.");
}

function lineOf({ cursor, at, kind, subject, document, correction, operator }: LedgerEvent): string {
  const state = document
    ? [document.stage, document.status, document.receipt?.cuInvoiceNo]
    : [correction?.state, operator?.update, operator?.code];
  return plainLine([cursor, nairobiTime(Date.parse(at)), kind, subject, ...state].filter(Boolean).join("  "));
}

function chainText(chain: VerifiedChain): string {
  const { connection, businessId, events, erased, head, findings, moreFindings } = chain;
  const whole = findings.length === 0 ? "unaltered" : counted(findings.length + moreFindings, "finding");
  const end = head ? `; last event ${head.count}, hash ${head.hash}` : "";
  const lines = findings.map((finding) => `  ${findingText(finding)}`);
  if (moreFindings > 0) lines.push(`  and ${moreFindings} more`);
  const partly = erased > 0 ? ` (${erased} with something erased)` : "";
  const looked = [`${counted(events, "event")}${partly}`, ...rowsOf(chain)].join(", ");
  return [`${connection}/${businessId}: ${whole}: ${looked}${end}`, ...lines].map(plainLine).join("\n");
}

/** Of a business, or of an accounting connection, whose chains have other rows. */
function rowsOf({
  documents,
  withoutDocument,
  movements,
  purchases,
  billPayments,
  syncBatches,
}: VerifiedChain): string[] {
  const rows = [
    [documents - withoutDocument, "document"],
    [withoutDocument, "sale or credit note without a document", "sales and credit notes without a document"],
    [movements, "stock movement"],
    [purchases, "purchase"],
    [billPayments, "bill payment"],
    [syncBatches, "sync batch", "sync batches"],
  ] as const;
  return rows.flatMap(([count, one, several]) => (count > 0 ? [counted(count, one, several)] : []));
}

function findingText(finding: ChainFinding | RowFinding): string {
  switch (finding.kind) {
    case "missing":
      return `${eventsFrom(finding)} not there`;
    case "changed":
      return `event ${finding.number} (${finding.subject}) does not say what was written: its hash is another`;
    case "unlinked":
      return `event ${finding.number} (${finding.subject}) does not follow the one before it: one of the two was written anew`;
    case "uncounted":
      return `${eventsFrom(finding)} behind the last one that the chain counts (table event_heads)`;
    case "other-end":
      return `event ${finding.number} is the last, and its hash is not the one that the chain keeps (table event_heads)`;
    case "no-head":
      return `there are ${finding.events} events, and the chain no longer says how many (table event_heads)`;
    case "not-as-seen":
      return `event ${finding.number} is not the one that was seen earlier: the chain was written anew`;
    case "erased-unlisted":
      return `event ${finding.number} (${finding.subject}) says that something was erased, and the file of erasures does not`;
    case "row-changed":
      return `${place(finding)} does not say what its event says, in ${finding.columns.join(", ")}`;
    case "row-missing":
      return `${place(finding)} is not there; its event tells of it`;
    case "row-behind":
      return `${finding.subject} names event ${finding.event}; the last that tells of it is ${finding.last ?? "none"}`;
    case "row-unproven":
      return `${finding.subject} (table ${finding.table}): its events, up to event ${finding.event}, do not say what it was`;
  }
}

function eventsFrom({ from, to }: { from: number; to: number }): string {
  return from === to ? `event ${from} is` : `events ${from} to ${to} are`;
}

function place({ table, subject, row }: { table: string; subject: string; row: string }): string {
  return row === subject ? `${subject} (table ${table})` : `${subject}: row ${row} of table ${table}`;
}
