import type { Command } from "commander";

import { syncBillPaymentsWorkflowId } from "../../contract/index.ts";
import { waitSeconds } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import type { JobFlags } from "../jobs/job-command.ts";
import { registerJobUpdates } from "../operate/operating-commands.ts";
import { registerList } from "../lists/register-list.ts";
import { withConnectionFilter } from "../sale/scope.ts";
import { accountingScope, withConnection } from "./accounting-scope.ts";

interface SyncFlags extends JobFlags {
  full?: boolean;
}

export function registerBillPayments(program: Command, context: CliContext): void {
  const billPayments = program
    .command("bill-payments")
    .description("Copy the accounting service's bill payments into the ledger, and list them.")
    .addHelpText(
      "after",
      `
Example:
  fiscalflow bill-payments month --out payments.csv`,
    );
  registerList(billPayments, context, {
    nouns: "bill payments",
    noun: "bill payment",
    counts:
      "Bill payments are listed by their own date, with what the accounting service showed at the last synchronisation. The sums are those of each currency and status.",
    withFilters: withConnectionFilter,
    load: async () => (await import("./list-bill-payments.ts")).listOfBillPayments,
  });
  withConnection(
    billPayments
      .command("sync")
      .description("Copy what has changed since the last run; everything on the first run.")
      .option("--full", "read every payment, and mark what is no longer listed")
      .option("--wait [seconds]", "follow its progress until it ends", waitSeconds),
  )
    .addHelpText(
      "after",
      `
One synchronisation of a connection runs at a time; where one runs already, it does what is asked when that is done.

Example:
  fiscalflow bill-payments sync --wait`,
    )
    .action(async (flags: SyncFlags) => {
      const { runJob } = await import("../jobs/run-job.ts");
      const { billPaymentsSync } = await import("./bill-payments-sync.ts");
      await runJob(context, billPaymentsSync, { flags, options: flags.full === true ? { full: true } : {} });
    });
  registerJobUpdates(billPayments, context, {
    noun: "synchronisation",
    start: "bill-payments sync",
    workflowId: ({ connection }) => syncBillPaymentsWorkflowId(connection),
    scopeOf: accountingScope,
    withScope: withConnection,
  });
}
