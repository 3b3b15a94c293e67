import type { Client } from "@temporalio/client";

import { type Config, loadConfig, starterSettings } from "../../config/index.ts";
import { DEFAULT_CONNECTION } from "../../contract/index.ts";
import { createStarter, SaleNotFoundError } from "../../starter/index.ts";
import { callerIdentity, operations } from "../../starter/operate.ts";
import { requireConnection } from "../../starter/sale-key.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { businessOf, type Scope, servedBusinessOf } from "../options.ts";
import { printNote } from "../output.ts";

/** @throws ConfigError, TemporalError, and what the work throws */
export async function withSales<Result>(context: CliContext, work: (sales: Sales) => Promise<Result>): Promise<Result> {
  const config = loadConfig({ env: context.env });
  return withTemporal(context, ({ client }) => work(salesOf(context, config, client)));
}

export type Sales = ReturnType<typeof salesOf>;

function salesOf(context: CliContext, config: Config, client: Client) {
  const settings = starterSettings(config);
  const identity = callerIdentity();
  const starter = createStarter({ client, ...settings, identity });
  // Where nothing is configured, the workers alone know their connections, and a look begins nothing.
  const { getSale } = config.compliance.length > 0 ? starter : createStarter({ client, identity });
  /**
   * The sale that an invoice number and the flags name: under another business, or under none, the same number would
   * become a second document.
   * @throws UsageError, UnknownConnectionError
   */
  const keyOf = (invoice: string, scope: Scope) => ({ invoice, ...businessOf(config, scope) });
  return {
    client,
    starter,
    getSale,
    /** The operators' updates, by workflow id. */
    operate: operations(client, identity),
    keyOf,
    /**
     * The sale of this number, else the one whose credit note has it, as far as the ledger knows.
     * @throws UsageError, UnknownConnectionError, and what `getSale` throws
     */
    find: async (number: string, scope: Scope) => {
      const key = keyOf(number, scope);
      try {
        return { key, state: await getSale(key) };
      } catch (error) {
        const invoice = error instanceof SaleNotFoundError ? error.creditNoteOf : undefined;
        if (invoice === undefined) throw error;
        const ofSale = { ...key, invoice };
        return { key: ofSale, state: await getSale(ofSale) };
      }
    },
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
