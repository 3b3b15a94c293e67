import type { Command } from "commander";

import type { Config } from "../../config/index.ts";
import { DEFAULT_CONNECTION } from "../../contract/index.ts";
import { connectionName } from "../../contract/schema/sale.ts";
import { parsedBy } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { JobScope } from "../jobs/job-command.ts";
import type { Scope } from "../sale/scope.ts";

/** What every command about the accounting service takes. */
export function withConnection(command: Command): Command {
  return command
    .option("--connection <name>", "the configured accounting connection (default: default)", parsedBy(connectionName))
    .option("--json", "print the result as JSON");
}

/**
 * The accounting connection that the flags name. Where this configuration has accounting connections, it must be one of
 * them: a workflow on one that nobody serves would fail. @throws UsageError
 */
export function accountingScope(
  { accounting }: Pick<Config, "accounting">,
  { connection = DEFAULT_CONNECTION }: Scope,
): JobScope {
  const known = accounting.map(({ name }) => name);
  if (known.length === 0 || known.includes(connection)) return { connection };
  throw new UsageError(
    `The accounting connection "${connection}" is not configured here (configured: ${known.join(", ")}).`,
  );
}
