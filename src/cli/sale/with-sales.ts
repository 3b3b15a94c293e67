import type { Client } from "@temporalio/client";

import { type Config, loadConfig, starterSettings } from "../../config/index.ts";
import { DEFAULT_CONNECTION } from "../../contract/index.ts";
import { createStarter } from "../../starter/index.ts";
import { callerIdentity, operations } from "../../starter/operate.ts";
import { requireConnection } from "../../starter/sale-key.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../output.ts";
import { businessOf, servedBusinessOf } from "../jobs/business-of.ts";
import type { Scope } from "./scope.ts";

/** @throws ConfigError, TemporalError, and what the work throws */
export async function withSales<Result>(context: CliContext, work: (sales: Sales) => Promise<Result>): Promise<Result> {
  const config = loadConfig({ env: context.env });
  return withTemporal(context, ({ client }) => work(salesOf(context, config, client)));
}

/** What the commands about sales work with. */
export type Sales = ReturnType<typeof salesOf>;

function salesOf(context: CliContext, config: Config, client: Client) {
  const settings = starterSettings(config);
  const identity = callerIdentity();
  return {
    client,
    starter: createStarter({ client, ...settings, identity }),
    /** The operators' updates, by workflow id. */
    operate: operations(client, identity),
    /**
     * The sale that an invoice number and the flags name: under another business, or under none, the same number would
     * become a second document.
     * @throws UsageError, UnknownConnectionError
     */
    keyOf: (invoice: string, scope: Scope) => ({ invoice, ...businessOf(config, scope) }),
    /** Of a new sale. @throws UsageError, UnknownConnectionError, UnknownBusinessError */
    requireServed: (scope: Scope): void => {
      requireConnection(settings.connections, scope.connection);
      servedBusinessOf(config, scope);
    },
    /** What looks wrong in what was sent, for standard error; says so if it was sent all the same. */
    warn: (
      warnings: readonly string[] = [],
      { invoice, connection = DEFAULT_CONNECTION, sent }: { invoice: string; connection?: string; sent: string },
    ): void => {
      const isSent = settings.inputChecks[connection] === "warn";
      const how = isSent ? `; ${sent} all the same (inputChecks: warn)` : "";
      for (const warning of warnings) printNote(context, `Warning: ${invoice}: ${warning}${how}`);
    },
  };
}
