import { type Command, Option } from "commander";

import { calendarDate } from "../../contract/schema/fields.ts";
import { STAGES_OF_ROWS } from "../../contract/names.ts";
import { help, parsedBy, wholeNumber } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import type { SaleListFlags } from "./listed-sales.ts";
import { parseInvoice, withFilters } from "./scope.ts";

const DEFAULT_LIMIT = 50;

export function registerList(sale: Command, context: CliContext): void {
  withFilters(
    sale
      .command("list")
      .description("List sales, from the ledger: open ones first, then the others, the latest of each first.")
      .option("--attention", "only sales that need an operator")
      .addOption(
        new Option(
          "--ended",
          "only sales whose workflow was terminated, failed or timed out: nothing carries them on",
        ).conflicts("attention"),
      )
      .addOption(new Option("--stage <stage>", "only sales at this stage").choices(STAGES_OF_ROWS))
      .option("--number <invoice>", "only the sale of this number", parseInvoice)
      .option("--from <date>", "only sales dated on this day or later, YYYY-MM-DD", parsedBy(calendarDate))
      .option("--to <date>", "only sales dated on this day or earlier, YYYY-MM-DD", parsedBy(calendarDate))
      .option("--limit <number>", "maximum number of results", wholeNumber(1, 100_000), DEFAULT_LIMIT),
  )
    .addHelpText(
      ...help(
        `Above it stands what is wrong with the API, and since when, as the sales that wait for it have met it.
With --attention, it also says how many workflows ended without an outcome and are to be restarted.
A sale is in the list as soon as a worker has begun it. Amount and buyer are those that it was started with; of a sale that was
adopted without lines, they are its document's.
Synchronisations and other work that is no sale: fiscalflow jobs list.`,
        "fiscalflow sale list --attention --business biz_1",
        "fiscalflow sale list --ended",
        "fiscalflow sale list --from 2026-11-01 --to 2026-11-30 --json",
      ),
    )
    .action(async (flags: SaleListFlags) => {
      const { printSales } = await import("./listed-sales.ts");
      await printSales(context, flags);
    });
}
