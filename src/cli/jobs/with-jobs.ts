import type { Client } from "@temporalio/client";

import { loadConfig } from "../../config/index.ts";
import { DEFAULT_CONNECTION } from "../../contract/index.ts";
import { UsageError } from "../cli-error.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import type { Scope } from "../sale/scope.ts";
import type { JobScope } from "./job-command.ts";

export interface Jobs {
  client: Client;
  /** The business that the flags name, with the configuration's default. @throws UsageError */
  scopeOf: (flags: Scope) => JobScope;
}

/** @throws ConfigError, TemporalError, and what the work throws */
export async function withJobs<Result>(context: CliContext, work: (jobs: Jobs) => Promise<Result>): Promise<Result> {
  const { compliance } = loadConfig({ env: context.env });
  const scopeOf: Jobs["scopeOf"] = ({ connection = DEFAULT_CONNECTION, business }) => {
    const configured = compliance.find(({ name }) => name === connection);
    if (business === undefined && !configured) {
      const known = compliance.map(({ name }) => name).join(", ") || "none";
      throw new UsageError(
        `The connection "${connection}" is not configured here (configured: ${known}), so its business is not known. Give --business ID, or run with the worker's configuration.`,
      );
    }
    const businessId = business ?? configured?.businessId;
    if (businessId === undefined) {
      throw new UsageError(
        `The key of connection "${connection}" is organisation-wide and has no default business: give --business ID.`,
      );
    }
    return { connection, businessId };
  };
  return withTemporal(context, async ({ client }) => work({ client, scopeOf }));
}
