import { type Command, Option } from "commander";

import { INVOICE_NUMBER_FIELDS, type PaymentRule, SUPPLIER_RULES } from "../../contract/index.ts";
import { currencyCode } from "../../contract/schema/job-inputs.ts";
import { connectionName } from "../../contract/schema/sale.ts";
import { parsedBy, waitSeconds } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import { startFromFlags } from "../jobs/register-jobs.ts";
import type { JobFlags } from "../jobs/run-job.ts";
import { registerJobUpdates } from "../operate/operating-commands.ts";
import { withScope } from "../sale/scope.ts";
import { reconciliation } from "./reconciliation.ts";

interface ReconcileFlags extends JobFlags {
  accounting?: string;
  invoiceNumberIn?: PaymentRule["invoiceNumberIn"];
  supplier?: PaymentRule["supplier"];
  currency?: string;
}

export function registerReconcile(program: Command, context: CliContext): void {
  const reconcile = program
    .command("reconcile")
    .description("Compare the ledger with the API's documents, and supplier invoices with bill payments.")
    .addHelpText(
      "after",
      `
Example: compare, and see what does not match
  fiscalflow reconcile --wait`,
    );
  withScope(
    reconcile
      .command("run", { isDefault: true })
      .description("(default) Read every document that is not final yet, compare, and report what does not match.")
      .option(
        "--accounting <name>",
        "the accounting connection whose bill payments are compared",
        parsedBy(connectionName),
      )
      .addOption(
        new Option(
          "--invoice-number-in <field>",
          "the field of a payment that holds the supplier's invoice number",
        ).choices(INVOICE_NUMBER_FIELDS),
      )
      .addOption(new Option("--supplier <how>", "whether supplier names must match").choices(SUPPLIER_RULES))
      .option("--currency <code>", "the currency of the supplier invoices, such as KES", parsedBy(currencyCode))
      .option("--wait [seconds]", "follow its progress until it ends, then print the findings", waitSeconds),
  )
    .addHelpText(
      "after",
      `
Documents are read on the background budget, each until the API tells it as final and the same. They are those that the ledger has: a
document that was issued elsewhere and not adopted (fiscalflow sale start with its saleId) is not found. Supplier invoices and payments are
compared as the ledger has them: synchronise both first. --accounting, --invoice-number-in, --supplier and --currency are for this once, in
place of what the worker is configured with (COMPLIANCE_RECONCILE_ACCOUNTING, …_INVOICE_NUMBER_IN, …_SUPPLIER, …_CURRENCY).
With --wait it ends with 1 where anything does not match, or where there is an
accounting service and nothing could be compared with it. With --wait and seconds that are over before the reconciliation
has ended, it says so and ends with 0, as for every job: such an end says nothing of whether anything matches.

Example:
  fiscalflow reconcile --wait`,
    )
    .action((flags: ReconcileFlags) => {
      const { accounting, invoiceNumberIn, supplier, currency } = flags;
      const rule = Object.entries({ invoiceNumberIn, supplier, currency }).filter(([, value]) => value !== undefined);
      return startFromFlags(context, reconciliation, flags, {
        accounting,
        rule: rule.length > 0 ? Object.fromEntries(rule) : undefined,
      });
    });
  registerJobUpdates(reconcile, context, () => reconciliation);
}
