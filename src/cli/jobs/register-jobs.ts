import { type Command, Option } from "commander";

import { itemName, syncBatchIdentifier } from "../../contract/schema/job-inputs.ts";
import { calendarDate } from "../../contract/schema/parse-input.ts";
import type { CliContext } from "../context.ts";
import { registerList } from "../register-outputs.ts";
import { registerJobUpdates } from "../operate/operating-commands.ts";
import {
  help,
  parsedBy,
  parseText,
  type ResultFlags,
  type Scope,
  waitSeconds,
  wholeNumber,
  withConnectionFilter,
  withFilters,
  withScope,
} from "../options.ts";
import { type AnyJob, billPaymentsSync, itemsRegistration, purchasesSync, reconciliation, syncBatch } from "./jobs.ts";
import type { JobsFlags } from "./list-jobs.ts";
import type { JobFlags } from "./run-job.ts";

function startsJob(command: Command, { owner }: AnyJob): Command {
  return owner.withFlags(command.option("--wait [seconds]", "follow its progress until it ends", waitSeconds));
}

/** @param options of the workflow's input, without those that were not given */
async function start(context: CliContext, job: AnyJob, flags: JobFlags, options: object = {}): Promise<void> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const { runJob } = await import("./run-job.ts");
  await runJob(context, job, flags, Object.fromEntries(given));
}

/** The groups of commands that start background jobs, and `jobs`. */
export function registerJobs(program: Command, context: CliContext): void {
  registerItems(program, context);
  registerPurchases(program, context);
  registerBillPayments(program, context);
  registerBatch(program, context);
  registerReconcile(program, context);
  registerJobCommands(program, context);
}

function registerItems(program: Command, context: CliContext): void {
  const items = program
    .command("items")
    .description("Register a business's items with the tax authority, and see what each still lacks.")
    .addHelpText(...help("", "fiscalflow items register --wait"));
  const parseItem = parsedBy(itemName);
  const register = items
    .command("register")
    .description("Register these items, or the whole catalogue. Safe to run again at any time.")
    .argument(
      "[items...]",
      "ids, external ids or SKUs (default: the whole catalogue)",
      (value, before: string[] | undefined): string[] | undefined => [...(before ?? []), parseItem(value)],
    )
    .option("--branch <branch>", "a branch's id or authorityBhfId (default: the business's first)", parseText)
    .option("--force", "also what is registered already, perhaps for another branch");
  startsJob(register, itemsRegistration)
    .addHelpText(...help("", "fiscalflow items register TEA-500 FLOUR-2 --branch 01 --wait"))
    .action((named: string[], { branch, force, ...flags }: JobFlags & { branch?: string; force?: boolean }) =>
      start(context, itemsRegistration, flags, { items: named.length > 0 ? named : undefined, branch, force }),
    );
  withScope(
    items.command("report").description("List the items that are not registered, with the last answer for each."),
  )
    .addHelpText(...help("", "fiscalflow items report"))
    .action(async (flags: Scope & ResultFlags) => (await import("./list-jobs.ts")).reportItems(context, flags));
  withScope(
    items
      .command("create")
      .description(
        "Create an item at the API, where the dialect describes createItem, and print its answer. Never retried automatically.",
      )
      .argument("<file>", "a JSON object with the item's fields; - reads standard input"),
  )
    .addHelpText(...help("", "fiscalflow items create item.json"))
    .action(async (file: string, flags: Scope) =>
      (await import("../dialect/named-operations.ts")).createItem(context, file, flags),
    );
  registerJobUpdates(items, context, () => itemsRegistration);
}

function registerPurchases(program: Command, context: CliContext): void {
  const purchases = program
    .command("purchases")
    .description(
      "Copy the supplier invoices that the tax authority holds for a business into the ledger, and list them.",
    )
    .addHelpText(...help("", "fiscalflow purchases month --out purchases.csv"));
  registerList(purchases, context, withFilters, async (...asked) =>
    (await import("../lists/synced.ts")).listPurchases(...asked),
  );
  const sync = purchases
    .command("sync")
    .description("Pull from the tax authority, then copy what is new or may have changed into the ledger.")
    .addOption(
      new Option("--from <date>", "all invoices from this day (YYYY-MM-DD) on")
        .argParser(parsedBy(calendarDate))
        .conflicts("full"),
    )
    .option("--full", "read the whole list, and mark what is no longer in it");
  startsJob(sync, purchasesSync)
    .addHelpText(...help("", "fiscalflow purchases sync --wait"))
    .action(({ from, full, ...flags }: JobFlags & { from?: string; full?: boolean }) =>
      start(context, purchasesSync, flags, { from, full }),
    );
  registerJobUpdates(purchases, context, () => purchasesSync);
}

function registerBillPayments(program: Command, context: CliContext): void {
  const billPayments = program
    .command("bill-payments")
    .description("Copy the accounting service's bill payments into the ledger, and list them.")
    .addHelpText(...help("", "fiscalflow bill-payments month --out payments.csv"));
  registerList(billPayments, context, withConnectionFilter, async (...asked) =>
    (await import("../lists/synced.ts")).listBillPayments(...asked),
  );
  const sync = billPayments
    .command("sync")
    .description("Copy what has changed since the last run; everything on the first run.")
    .option("--full", "read every payment, and mark what is no longer listed");
  startsJob(sync, billPaymentsSync)
    .addHelpText(...help("", "fiscalflow bill-payments sync --wait"))
    .action(({ full, ...flags }: JobFlags & { full?: boolean }) => start(context, billPaymentsSync, flags, { full }));
  registerJobUpdates(billPayments, context, () => billPaymentsSync);
}

function registerBatch(program: Command, context: CliContext): void {
  const batch = program
    .command("batch")
    .description("Have the accounting service process a sync batch, at most once.")
    .addHelpText(...help("", "fiscalflow batch process batch_1 --wait"));
  const argument = { description: "the batch's id", parse: parsedBy(syncBatchIdentifier) };
  const process = batch
    .command("process")
    .description("Process a sync batch. A processed batch is never sent again.")
    .argument("<id>", argument.description, argument.parse);
  startsJob(process, syncBatch(""))
    .addHelpText(...help("", "fiscalflow batch process batch_1 --wait"))
    .action((id: string, flags: JobFlags) => start(context, syncBatch(id), flags));
  registerJobUpdates(batch, context, syncBatch, { updates: ["retry", "resolveBatch"], argument });
}

function registerReconcile(program: Command, context: CliContext): void {
  const reconcile = program
    .command("reconcile")
    .description("Compare the ledger with the API's documents, and supplier invoices with bill payments.")
    .addHelpText(...help("", "fiscalflow reconcile --wait"));
  const run = reconcile
    .command("run", { isDefault: true })
    .description("(default) Read every document that is not final yet, compare, and report what does not match.");
  startsJob(run, reconciliation)
    .addHelpText(
      ...help(
        "With --wait it ends with 1 where anything does not match, or a configured accounting service was not compared.",
        "fiscalflow reconcile --wait",
      ),
    )
    .action((flags: JobFlags) => start(context, reconciliation, flags));
  registerJobUpdates(reconcile, context, () => reconciliation);
}

function registerJobCommands(program: Command, context: CliContext): void {
  const jobs = program
    .command("jobs")
    .description("Manage background jobs: registrations, synchronisations, sync batches, reconciliations.")
    .addHelpText(...help("", "fiscalflow jobs list --attention"));
  withFilters(
    jobs
      .command("list")
      .description("List jobs: open ones first, then closed ones, the latest of each first.")
      .option("--attention", "only jobs that need an operator")
      .option("--limit <number>", "maximum number of results", wholeNumber(1, 100_000), 50),
  )
    .addHelpText(...help("", "fiscalflow jobs list --attention"))
    .action(async (flags: JobsFlags) => (await import("./list-jobs.ts")).listJobs(context, flags));
  jobs
    .command("show")
    .description("Show where a job stands and the commands that resolve what it needs an operator for, or its result.")
    .argument("<job>", "its workflow id, as `jobs list` shows it")
    .option("--json", "print the result as JSON")
    .addHelpText(...help("", "fiscalflow jobs show sync-purchases/default/biz_1"))
    .action(async (job: string, flags: ResultFlags) => (await import("./list-jobs.ts")).showJob(context, job, flags));
}
