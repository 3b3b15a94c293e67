import type { Client } from "@temporalio/client";

import { loadConfig, starterSettings } from "../../config/index.ts";
import { DEFAULT_CONNECTION } from "../../contract/index.ts";
import { createStarter, type SaleKey, type Starter } from "../../starter/index.ts";
import { callerIdentity, operations } from "../../starter/operate.ts";
import { requireConnection } from "../../starter/sale-key.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../output.ts";
import { businessOf, type BusinessScope, servedBusinessOf } from "../jobs/business-of.ts";
import type { Scope } from "./scope.ts";

/** What the commands about sales work with. */
export interface Sales {
  client: Client;
  starter: Starter;
  /** Of a new sale. @throws UsageError, UnknownConnectionError, UnknownBusinessError */
  requireServed: (scope: Scope) => void;
  /** What looks wrong in what was sent, for standard error; says so if it was sent all the same. */
  warn: (
    warnings: readonly string[] | undefined,
    about: { invoice: string; connection?: string; sent: string },
  ) => void;
  /** The operators' updates, by workflow id. */
  operate: ReturnType<typeof operations>;
  /** The sale that an invoice number and the flags name. @throws UsageError, UnknownConnectionError */
  keyOf: (invoice: string, scope: Scope) => SaleKey & BusinessScope;
}

/** @throws ConfigError, TemporalError, and what the work throws */
export async function withSales<Result>(context: CliContext, work: (sales: Sales) => Promise<Result>): Promise<Result> {
  const config = loadConfig({ env: context.env });
  const settings = starterSettings(config);
  return withTemporal(context, async ({ client }) => {
    const identity = callerIdentity();
    const starter = createStarter({ client, ...settings, identity });
    // Under another business, or under none, the same number would become a second document.
    const keyOf: Sales["keyOf"] = (invoice, scope) => ({ invoice, ...businessOf(config, scope) });
    const requireServed: Sales["requireServed"] = (scope) => {
      requireConnection(settings.connections, scope.connection);
      servedBusinessOf(config, scope);
    };
    const warn: Sales["warn"] = (warnings = [], { invoice, connection = DEFAULT_CONNECTION, sent }) => {
      const isSent = settings.inputChecks[connection]?.mode === "warn";
      for (const warning of warnings)
        printNote(
          context,
          `Warning: ${invoice}: ${warning}${isSent ? `; ${sent} all the same (inputChecks: warn)` : ""}`,
        );
    };
    return work({ client, starter, requireServed, warn, operate: operations(client, identity), keyOf });
  });
}
