import type { Command } from "commander";

import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { parseText, type Scope, withScope } from "../sale/scope.ts";

const NOT_SHOWN = `
The API's document names this operation without showing it: the connection's dialect must describe it. The answer is printed as it came,
as JSON.`;

/** The reads that the API's document only names. */
export function registerLookups(program: Command, context: CliContext): void {
  withScope(program.command("identity").description("Show what the configured key may do, as the API reports it."))
    .addHelpText("after", NOT_SHOWN)
    .action(async (flags: Scope) => {
      const { withNamedOperation } = await import("../with-compliance.ts");
      const { printAnswer } = await import("./print-answer.ts");
      await withNamedOperation(context, flags, "identity", async ({ client, call }) =>
        printAnswer(context, await client.callNamed("identity", {}, call)),
      );
    });
  withScope(
    program
      .command("lookups")
      .description("Show the tax authority's code lists and item classifications.")
      .argument("[name]", "the list; replaces {id} in the dialect's path", parseText),
  )
    .addHelpText("after", NOT_SHOWN)
    .action(async (name: string | undefined, flags: Scope) => {
      const { withNamedOperation } = await import("../with-compliance.ts");
      const { printAnswer } = await import("./print-answer.ts");
      await withNamedOperation(context, flags, "lookups", async ({ client, dialect, call }) => {
        const path = dialect.lookups?.path ?? "";
        if (path.includes("{id}") !== (name !== undefined))
          throw new UsageError(
            name === undefined
              ? `The path of lookups in the dialect is ${path}: say which list you want in place of {id}.`
              : `The path of lookups in the dialect is ${path}, which has no {id} for a name. Leave the name out, or change the dialect.`,
          );
        printAnswer(context, await client.callNamed("lookups", { id: name }, call));
      });
    });
}
