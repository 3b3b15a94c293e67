import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import type { DialectFlags } from "./run-dialect.ts";

export function registerDialect(program: Command, context: CliContext): void {
  program
    .command("dialect")
    .description("Compare the configured names with the services' answers, and print what to ask the provider.")
    .option("--check", "exit with 1 if an answer lacks a configured name")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      `
Makes one call for each connection, which changes nothing: GET /v1/businesses of the API, GET /companies of the
accounting service. What no such answer shows is printed as a question for the provider. Every setting is described in
https://github.com/fiscalflow/fiscalflow/blob/main/docs/dialect.md.

Example:
  fiscalflow dialect --check`,
    )
    .action(async (flags: DialectFlags) => {
      const { runDialect } = await import("./run-dialect.ts");
      await runDialect(context, flags);
    });
}
