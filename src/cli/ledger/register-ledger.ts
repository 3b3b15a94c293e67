import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { registerVerify } from "./verify.ts";

export function registerLedger(program: Command, context: CliContext): void {
  const ledger = program
    .command("ledger")
    .description("Check the ledger, which is kept for years.")
    .addHelpText(
      "after",
      `
Example:
  fiscalflow ledger verify`,
    );
  registerVerify(ledger, context);
}
