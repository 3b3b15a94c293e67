import { type Command, Option } from "commander";

import type { CliContext } from "../context.ts";
import type { DialectFlags } from "./run-dialect.ts";

export function registerDialect(program: Command, context: CliContext): void {
  program
    .command("dialect")
    .description(
      "Find the field names that the services' documents do not show, and compare them with the configuration.",
    )
    .option("--connection <name>", "the connection (default: the only one, or the one called default)")
    .addOption(new Option("--service <service>", "one service only").choices(["compliance", "accounting"]))
    .option("--check", "exit with 1 if the configured dialect does not fit")
    .option("--write", "also issue a sale and a credit note, and move stock; with a cmp_sk_test_ key only")
    .option("--item <id>", "the item for --write (default: the first registered one that is tracked in stock)")
    .option("--yes", "write without asking")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      `
Without --write all calls are harmless: reads, one pull of the latest supplier invoices, and requests for ids that do
not exist. They count against the request budget; a quarter of each minute is left to the worker. What no call shows
is printed as a question for the provider. Every setting is described in
https://github.com/fiscalflow/fiscalflow/blob/main/docs/dialect.md.

Example:
  fiscalflow dialect --write --json > dialect.json`,
    )
    .action(async (flags: DialectFlags) => {
      const { runDialect } = await import("./run-dialect.ts");
      await runDialect(context, flags);
    });
}
