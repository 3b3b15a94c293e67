import type { Command } from "commander";

import type { Config } from "../../config/index.ts";
import { DEFAULT_CONNECTION, type WorkflowType } from "../../contract/index.ts";
import { connectionName } from "../../contract/schema/sale.ts";
import { parsedBy } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import { type Scope, withScope } from "../sale/scope.ts";
import { businessOf, servedBusinessOf } from "./business-of.ts";

/** What a job is for, with what the configuration adds. */
export interface JobScope {
  connection: string;
  businessId?: string | undefined;
}

/** Whose a job is. */
interface JobOwner {
  withFlags: (command: Command) => Command;
  /** What the flags name. @throws UsageError */
  of: (config: Config, flags: Scope) => JobScope;
  /** The same, where the command begins something new: a business that is not served is refused. @throws UsageError */
  served: (config: Config, flags: Scope) => JobScope;
}

export const BUSINESS: JobOwner = { withFlags: withScope, of: businessOf, served: servedBusinessOf };

export const ACCOUNTING_CONNECTION: JobOwner = {
  withFlags: (command) =>
    command
      .option(
        "--connection <name>",
        "the configured accounting connection (default: default)",
        parsedBy(connectionName),
      )
      .option("--json", "print the result as JSON"),
  of: accountingScope,
  served: accountingScope,
};

/**
 * Where this configuration has accounting connections, it must be one of them: a workflow on one that nobody serves
 * would fail. @throws UsageError
 */
function accountingScope(
  { accounting }: Pick<Config, "accounting">,
  { connection = DEFAULT_CONNECTION }: Scope,
): JobScope {
  const known = accounting.map(({ name }) => name);
  if (known.length === 0 || known.includes(connection)) return { connection };
  throw new UsageError(
    `The accounting connection "${connection}" is not configured here (configured: ${known.join(", ")}).`,
  );
}

/** A workflow without a document, as the command line starts, follows and shows it. */
export interface Job<Progress, Result> {
  workflow: WorkflowType;
  /** In a sentence: `synchronisation`. */
  noun: string;
  /** The words that start it, of which the first is its group: `purchases sync`. */
  start: string;
  owner: JobOwner;
  workflowId: (scope: JobScope) => string;
  /** Of the workflow's input, beside the scope. */
  input?: object;
  /** What stands between the verb and the flags of a command: `batch retry ID`. */
  argument?: string;
  /** How far it is, in one line. */
  progressLine: (progress: Progress) => string;
  /** What came of it; the first line says whether somebody has to look. */
  resultText: (result: Result) => string;
  /** Whether the result is one that the command ends with 1 for. */
  failed?: (result: Result) => boolean;
}

/** Of whatever type: only what belongs to a workflow of that type may be handed to it. */
export type AnyJob = Job<never, never>;
