import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { registerSaleUpdates } from "../operate/operating-commands.ts";
import { registerCorrect } from "./correct.ts";
import { registerList } from "./list.ts";
import { registerRefund } from "./refund.ts";
import { registerShow } from "./show.ts";
import { registerStart } from "./start.ts";
import { registerWatch } from "./watch.ts";

export function registerSale(program: Command, context: CliContext): void {
  const sale = program
    .command("sale")
    .description("Start and refund sales, see where they stand, and resolve what needs an operator.")
    .addHelpText(
      "after",
      `
Example: everything that needs an operator
  fiscalflow sale list --attention`,
    );
  registerStart(sale, context);
  registerShow(sale, context);
  registerWatch(sale, context);
  registerList(sale, context);
  registerRefund(sale, context);
  registerCorrect(sale, context);
  registerSaleUpdates(sale, context);
}
