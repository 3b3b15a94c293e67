import type { Client } from "@temporalio/client";

import { loadConfig } from "../../config/index.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import type { Scope } from "../sale/scope.ts";
import { businessOf } from "./business-of.ts";
import type { JobScope, ScopeOf } from "./job-command.ts";

export interface Jobs {
  client: Client;
  /** What the flags name. @throws UsageError */
  scopeOf: (flags: Scope) => JobScope;
}

/**
 * @param scopeOf default: a business of the compliance service
 * @throws ConfigError, TemporalError, and what the work throws
 */
export async function withJobs<Result>(
  context: CliContext,
  work: (jobs: Jobs) => Promise<Result>,
  scopeOf: ScopeOf = businessOf,
): Promise<Result> {
  const config = loadConfig({ env: context.env });
  return withTemporal(context, async ({ client }) => work({ client, scopeOf: (flags) => scopeOf(config, flags) }));
}
