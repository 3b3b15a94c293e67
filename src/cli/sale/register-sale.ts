import { type Command, Option } from "commander";

import { REFUND_REASONS } from "../../contract/codes.ts";
import { calendarDate } from "../../contract/schema/parse-input.ts";
import type { CliContext } from "../context.ts";
import { registerSaleUpdates } from "../operate/operating-commands.ts";
import {
  help,
  parsedBy,
  parseInvoice,
  type ResultFlags,
  type Scope,
  waitOption,
  wholeNumber,
  withFilters,
  withScope,
} from "../options.ts";

export interface StartFlags extends Scope, ResultFlags {
  wait?: number;
}

export interface SaleListFlags extends Scope, ResultFlags {
  attention?: boolean;
  ended?: boolean;
  from?: string;
  to?: string;
  limit: number;
}

export interface CreditFlags extends Scope, ResultFlags {
  reason: string;
  number: string;
  date?: string;
  wait?: number;
}

export interface RefundFlags extends CreditFlags {
  restock?: boolean;
  branch?: string;
}

/** `fiscalflow sale`: what a command does, it loads when it runs. */
export function registerSale(program: Command, context: CliContext): void {
  const sale = program
    .command("sale")
    .description("Start and refund sales, see where they stand, and resolve what needs an operator.")
    .addHelpText(...help("", "fiscalflow sale list --attention"));

  withScope(sale.command("start"))
    .description("Start the sale in a JSON file, or every sale of a list. Starting the same sale twice gives one sale.")
    .argument("<file>", "the file; - reads standard input")
    .addOption(waitOption("wait for the outcome"))
    .addHelpText(
      ...help(
        `Every sale of a list is checked before the first is started. With --wait, a sale that is cancelled, or needs an operator before its
document is completed, ends the command with 1; one that is still under way then goes on by itself, and fails nothing.`,
        `echo '{"traderInvoiceNumber":"INV-1001","lines":[{"sku":"TEA-500","quantity":2,"unitPrice":350}]}' |
    fiscalflow sale start - --wait`,
      ),
    )
    .action(async (file: string, flags: StartFlags) => (await import("./start.ts")).startSales(context, file, flags));

  withScope(sale.command("show"))
    .description("Show where a sale stands, and the commands that resolve what needs an operator.")
    .argument("<invoice>", "the sale's number, or that of its credit note", parseInvoice)
    .addHelpText(...help("", "fiscalflow sale show INV-1001"))
    .action(async (invoice: string, flags: Scope & ResultFlags) =>
      (await import("./show.ts")).showSale(context, invoice, flags),
    );

  withFilters(sale.command("list"))
    .description("List sales, from the ledger: open ones first, then the others, the latest of each first.")
    .option("--attention", "only sales that need an operator")
    .addOption(
      new Option(
        "--ended",
        "only sales whose workflow was terminated, failed or timed out: nothing carries them on",
      ).conflicts("attention"),
    )
    .option("--from <date>", "only sales dated on this day or later, YYYY-MM-DD", parsedBy(calendarDate))
    .option("--to <date>", "only sales dated on this day or earlier, YYYY-MM-DD", parsedBy(calendarDate))
    .option("--limit <number>", "maximum number of results", wholeNumber(1, 100_000), 50)
    .addHelpText(
      ...help(
        `Above it stands what is wrong with the API, and since when, as the sales that wait for it have met it.
Synchronisations and other work that is no sale: fiscalflow jobs list.`,
        "fiscalflow sale list --attention --business biz_1",
        "fiscalflow sale list --from 2026-11-01 --to 2026-11-30 --json",
      ),
    )
    .action(async (flags: SaleListFlags) => (await import("./list.ts")).listSales(context, flags));

  withCredit(sale.command("refund"), "wait for the credit note's outcome")
    .description("Reverse a completed sale in full with a credit note. Asking twice gives one credit note.")
    .argument("<invoice>", "the sale's number", parseInvoice)
    .option("--restock", "return the goods to the branch that they were taken from")
    .option("--branch <name>", "with --restock, for a sale that took no stock: the branch that now has the goods")
    .addHelpText(...help("", "fiscalflow sale refund INV-1001 --reason 06 --number CN-1 --restock"))
    .action(async (invoice: string, flags: RefundFlags) =>
      (await import("./refund.ts")).refundSale(context, invoice, flags),
    );

  withCredit(sale.command("correct"), "wait until both are signed")
    .description("Credit a signed sale, and issue the corrected one. Asking twice gives one correction.")
    .argument("<invoice>", "the number of the sale to correct", parseInvoice)
    .argument("<file>", "the corrected sale, under a number of its own; - reads standard input")
    .addHelpText(
      ...help(
        `The corrected sale is checked before anything is credited. The goods of the credited sale go back to stock, and the corrected sale takes
its own. Run the same command again to see where the correction stands. It ends with 1 where an operator is needed, or nothing is
corrected.`,
        "fiscalflow sale correct INV-1001 corrected.json --reason 06 --number CN-1 --wait",
      ),
    )
    .action(async (invoice: string, file: string, flags: CreditFlags) =>
      (await import("./refund.ts")).correctSale(context, invoice, file, flags),
    );

  registerSaleUpdates(sale, context);
}

function withCredit(command: Command, waits: string): Command {
  const reasons = Object.entries(REFUND_REASONS).map(([code, meaning]) => `${code} ${meaning}`);
  return withScope(
    command
      .addOption(
        new Option("--reason <code>", reasons.join(", ")).choices(Object.keys(REFUND_REASONS)).makeOptionMandatory(),
      )
      .requiredOption("--number <number>", "the credit note's own number")
      .option("--date <date>", "of the credit note: YYYY-MM-DD (default: today in Nairobi)")
      .addOption(waitOption(waits)),
  );
}
