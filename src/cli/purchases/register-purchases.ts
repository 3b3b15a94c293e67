import type { Command } from "commander";

import { syncPurchasesWorkflowId } from "../../contract/index.ts";
import { calendarDate } from "../../contract/schema/fields.ts";
import { parsedBy, waitSeconds } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import type { JobFlags } from "../jobs/job-command.ts";
import { registerJobUpdates } from "../operate/operating-commands.ts";
import { registerList } from "../lists/register-list.ts";
import { withFilters, withScope } from "../sale/scope.ts";

interface SyncFlags extends JobFlags {
  from?: string;
  full?: boolean;
}

export function registerPurchases(program: Command, context: CliContext): void {
  const purchases = program
    .command("purchases")
    .description(
      "Copy the supplier invoices that the tax authority holds for a business into the ledger, and list them.",
    )
    .addHelpText(
      "after",
      `
Example:
  fiscalflow purchases month --out purchases.csv`,
    );
  registerList(purchases, context, {
    nouns: "purchases",
    noun: "purchase",
    counts:
      "Purchases are listed by the date of the invoice, with what the API showed at the last synchronisation. The sums are those of each status.",
    withFilters,
    load: async () => (await import("./list-purchases.ts")).listOfPurchases,
  });
  withScope(
    purchases
      .command("sync")
      .description("Pull from the tax authority, then copy what is new or may have changed into the ledger.")
      .option("--from <date>", "all invoices from this day (YYYY-MM-DD) on", parsedBy(calendarDate))
      .option("--full", "read the whole list, and mark what is no longer in it")
      .option("--wait [seconds]", "follow its progress until it ends", waitSeconds),
  )
    .addHelpText(
      "after",
      `
Invoices are confirmed and rejected in the API's dashboard, not here. One synchronisation of a business runs at a time; where
one runs already, this shows that one.

Example:
  fiscalflow purchases sync --wait`,
    )
    .action(async (flags: SyncFlags) => {
      const { from, full } = flags;
      if (from !== undefined && full === true) {
        throw new UsageError("Give either --from or --full: a full synchronisation reads the whole list.");
      }
      const { runJob } = await import("../jobs/run-job.ts");
      const { purchasesSync } = await import("./purchases-sync.ts");
      const options = { ...(from !== undefined && { from }), ...(full === true && { full }) };
      await runJob(context, purchasesSync, { flags, options });
    });
  registerJobUpdates(purchases, context, {
    noun: "synchronisation",
    start: "purchases sync",
    workflowId: syncPurchasesWorkflowId,
  });
}
