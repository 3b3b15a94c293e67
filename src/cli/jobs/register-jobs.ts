import type { Command } from "commander";

import { calendarDate } from "../../contract/schema/parse-input.ts";
import { itemName, syncBatchIdentifier } from "../../contract/schema/job-inputs.ts";
import { help, parsedBy, waitSeconds, wholeNumber } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { registerList } from "../lists/register-lists.ts";
import { registerJobUpdates } from "../operate/operating-commands.ts";
import {
  parseText,
  type ResultFlags,
  type Scope,
  withConnectionFilter,
  withFilters,
  withScope,
} from "../sale/scope.ts";
import type { AnyJob } from "./job.ts";
import { billPaymentsSync, itemsRegistration, purchasesSync, syncBatch } from "./jobs.ts";
import type { JobsFlags } from "./list-jobs.ts";
import type { JobFlags } from "./run-job.ts";

const DEFAULT_LIMIT = 50;

export const WAIT = ["--wait [seconds]", "follow its progress until it ends", waitSeconds] as const;

/** @param options of the workflow's input, without those that were not given */
export async function startFromFlags(
  context: CliContext,
  job: AnyJob,
  flags: JobFlags,
  options: Record<string, unknown> = {},
): Promise<void> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const { runJob } = await import("./run-job.ts");
  await runJob(context, job, flags, Object.fromEntries(given));
}

export function registerItems(program: Command, context: CliContext): void {
  const items = program
    .command("items")
    .description("Register a business's items with the tax authority, and see what each still lacks.");
  const parseItem = parsedBy(itemName);
  withScope(
    items
      .command("register")
      .description("Register these items, or the whole catalogue. Safe to run again at any time.")
      .argument(
        "[items...]",
        "ids, external ids or SKUs (default: the whole catalogue)",
        (value, before: string[] | undefined): string[] | undefined => [...(before ?? []), parseItem(value)],
      )
      .option("--branch <branch>", "a branch's id or authorityBhfId (default: the business's first)", parseText)
      .option("--force", "register again items that the tax authority already has")
      .option(...WAIT),
  )
    .addHelpText(
      ...help(
        `An item that lacks data is reported and holds up nothing. One registration of a business runs at a time; where one runs already, this
shows that one.`,
        "fiscalflow items register --wait",
        "fiscalflow items register TEA-500 FLOUR-2 --branch 01",
      ),
    )
    .action((named: string[], flags: JobFlags & { branch?: string; force?: boolean }) => {
      const { branch, force } = flags;
      return startFromFlags(context, itemsRegistration, flags, {
        items: named.length > 0 ? named : undefined,
        branch,
        force,
      });
    });
  withScope(
    items.command("report").description("List the items that are not registered, with the last answer for each."),
  ).action(async (flags: Scope & ResultFlags) => {
    const { reportItems } = await import("./report-items.ts");
    await reportItems(context, flags);
  });
  withScope(
    items
      .command("create")
      .description("Create an item at the API and print its answer. Never retried automatically.")
      .argument("<file>", "a JSON object with the item's fields; - reads standard input"),
  )
    .addHelpText(
      ...help(
        `The API's document names this operation without showing it: the connection's dialect must describe it under createItem. The fields are
sent under the names that the dialect gives them, and those that it does not name as they are.`,
        `echo '{"name":"Maize flour 2 kg","sku":"MF-2","unitPrice":210}' | fiscalflow items create -`,
      ),
    )
    .action(async (file: string, flags: Scope) => {
      const { createItem } = await import("../dialect/named-operations.ts");
      await createItem(context, file, flags);
    });
  registerJobUpdates(items, context, () => itemsRegistration);
}

export function registerPurchases(program: Command, context: CliContext): void {
  const purchases = program
    .command("purchases")
    .description(
      "Copy the supplier invoices that the tax authority holds for a business into the ledger, and list them.",
    )
    .addHelpText(...help("", "fiscalflow purchases month --out purchases.csv"));
  registerList(purchases, context, {
    nouns: "purchases",
    noun: "purchase",
    counts:
      "Purchases are listed by the date of the invoice, with what the API showed at the last synchronisation. The sums are those of each status.",
    withFilters,
    run: async (...asked) => (await import("../lists/synced.ts")).listPurchases(...asked),
  });
  withScope(
    purchases
      .command("sync")
      .description("Pull from the tax authority, then copy what is new or may have changed into the ledger.")
      .option("--from <date>", "all invoices from this day (YYYY-MM-DD) on", parsedBy(calendarDate))
      .option("--full", "read the whole list, and mark what is no longer in it")
      .option(...WAIT),
  )
    .addHelpText(
      ...help(
        `Invoices are confirmed and rejected in the API's dashboard, not here. One synchronisation of a business runs at a time; where
one runs already, this shows that one.`,
        "fiscalflow purchases sync --wait",
      ),
    )
    .action(async (flags: JobFlags & { from?: string; full?: boolean }) => {
      const { from, full } = flags;
      if (from !== undefined && full === true)
        throw new UsageError("Give either --from or --full: a full synchronisation reads the whole list.");
      await startFromFlags(context, purchasesSync, flags, { from, full });
    });
  registerJobUpdates(purchases, context, () => purchasesSync);
}

export function registerBillPayments(program: Command, context: CliContext): void {
  const billPayments = program
    .command("bill-payments")
    .description("Copy the accounting service's bill payments into the ledger, and list them.")
    .addHelpText(...help("", "fiscalflow bill-payments month --out payments.csv"));
  registerList(billPayments, context, {
    nouns: "bill payments",
    noun: "bill payment",
    counts:
      "Bill payments are listed by their own date, with what the accounting service showed at the last synchronisation. The sums are those of each currency and status.",
    withFilters: withConnectionFilter,
    run: async (...asked) => (await import("../lists/synced.ts")).listBillPayments(...asked),
  });
  billPaymentsSync.owner
    .withFlags(
      billPayments
        .command("sync")
        .description("Copy what has changed since the last run; everything on the first run.")
        .option("--full", "read every payment, and mark what is no longer listed")
        .option(...WAIT),
    )
    .addHelpText(
      ...help(
        `One synchronisation of a connection runs at a time; where one runs already, it does what is asked when that is done.`,
        "fiscalflow bill-payments sync --wait",
      ),
    )
    .action(({ full, ...flags }: JobFlags & { full?: boolean }) =>
      startFromFlags(context, billPaymentsSync, flags, { full }),
    );
  registerJobUpdates(billPayments, context, () => billPaymentsSync);
}

export function registerBatch(program: Command, context: CliContext): void {
  const batch = program.command("batch").description("Have the accounting service process a sync batch, at most once.");
  const argument = { description: "the batch's id", parse: parsedBy(syncBatchIdentifier) };
  syncBatch("")
    .owner.withFlags(
      batch
        .command("process")
        .description("Process a sync batch. A processed batch is never sent again.")
        .argument("<id>", argument.description, argument.parse)
        .option(...WAIT),
    )
    .addHelpText(
      ...help(
        `Where the answer is lost, nobody knows whether the batch was processed: it is not sent again, and waits for \`batch resolve\`.`,
        "fiscalflow batch process batch_1 --wait",
      ),
    )
    .action((id: string, flags: JobFlags) => startFromFlags(context, syncBatch(id), flags));
  registerJobUpdates(batch, context, syncBatch, { updates: ["retry", "resolveBatch"], argument });
}

export function registerJobs(program: Command, context: CliContext): void {
  const jobs = program
    .command("jobs")
    .description("Manage background jobs: registrations, synchronisations, sync batches, reconciliations.")
    .addHelpText(
      "after",
      `
Example: every job that needs an operator
  fiscalflow jobs list --attention`,
    );
  withFilters(
    jobs
      .command("list")
      .description("List jobs: open ones first, then closed ones, the latest of each first.")
      .option("--attention", "only jobs that need an operator")
      .option("--limit <number>", "maximum number of results", wholeNumber(1, 100_000), DEFAULT_LIMIT),
  )
    .addHelpText(
      ...help(
        `Above it stands what is wrong with the API or the accounting service, and since when, as the jobs that wait for it have met it.
The list is Temporal's, and follows the jobs by a second or so.`,
        "fiscalflow jobs list --attention",
      ),
    )
    .action(async (flags: JobsFlags) => {
      const { listJobs } = await import("./list-jobs.ts");
      await listJobs(context, flags);
    });
  jobs
    .command("show")
    .description("Show where a job stands and the commands that resolve what it needs an operator for, or its result.")
    .argument("<job>", "its workflow id, as `jobs list` shows it")
    .option("--json", "print the result as JSON")
    .addHelpText(...help("", "fiscalflow jobs show sync-purchases/default/biz_1"))
    .action(async (job: string, flags: ResultFlags) => {
      const { showJob } = await import("./list-jobs.ts");
      await showJob(context, job, flags);
    });
}
