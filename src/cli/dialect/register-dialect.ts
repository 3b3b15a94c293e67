import type { Command } from "commander";

import { help } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import { parseText, type Scope, withScope } from "../sale/scope.ts";
import type { DialectFlags } from "./run-dialect.ts";

const NOT_SHOWN = `
The API's document names this operation without showing it: the connection's dialect must describe it. The answer is printed as it came,
as JSON.`;

/** `dialect`, and the reads of the API that a dialect must describe. */
export function registerDialect(program: Command, context: CliContext): void {
  program
    .command("dialect")
    .description("Compare the configured names with the services' answers, and print what to ask the provider.")
    .option("--check", "exit with 1 if an answer lacks a configured name")
    .option("--json", "print the result as JSON")
    .addHelpText(
      ...help(
        `Makes one call for each connection, which changes nothing: GET /v1/businesses of the API, GET /companies of the
accounting service. What no such answer shows is printed as a question for the provider. Every setting is described in
https://github.com/fiscalflow/fiscalflow/blob/main/docs/dialect.md.`,
        "fiscalflow dialect --check",
      ),
    )
    .action(async (flags: DialectFlags) => {
      const { runDialect } = await import("./run-dialect.ts");
      await runDialect(context, flags);
    });
  withScope(program.command("identity").description("Show what the configured key may do, as the API reports it."))
    .addHelpText("after", NOT_SHOWN)
    .action(async (flags: Scope) => {
      const { showIdentity } = await import("./named-operations.ts");
      await showIdentity(context, flags);
    });
  withScope(
    program
      .command("lookups")
      .description("Show the tax authority's code lists and item classifications.")
      .argument("[name]", "the list; replaces {id} in the dialect's path", parseText),
  )
    .addHelpText("after", NOT_SHOWN)
    .action(async (name: string | undefined, flags: Scope) => {
      const { showLookups } = await import("./named-operations.ts");
      await showLookups(context, name, flags);
    });
}
