import {
  type ComplianceClient,
  type ComplianceDialect,
  createComplianceClient,
  type NamedOperation,
  parseDialect,
  requireDescribed,
} from "../compliance/index.ts";
import { createDispatchers, createTransport } from "../http/transport.ts";
import { requireConnection } from "../starter/sale-key.ts";
import { loadProcessConfig } from "../worker/process.ts";
import { InterruptedError } from "./cli-error.ts";
import type { CliContext } from "./context.ts";
import { type BusinessScope, servedBusinessOf } from "./jobs/business-of.ts";
import type { Scope } from "./sale/scope.ts";

export interface ComplianceCalls {
  client: ComplianceClient;
  dialect: ComplianceDialect;
  /** Of every call: the business that the flags name, and the end of the command. */
  call: { businessId: string; signal: AbortSignal };
}

/**
 * Makes calls of an operation that the API's document only names, from the command itself: its caller asks for each, so
 * none waits for the workers' request budget, and none is repeated.
 * @throws ConfigError, UsageError, UnknownConnectionError, UnknownBusinessError, ComplianceInputError where the dialect
 * does not describe it, InterruptedError
 */
export async function withNamedOperation<Result>(
  context: CliContext,
  flags: Scope,
  name: NamedOperation,
  work: (calls: ComplianceCalls, scope: BusinessScope) => Promise<Result>,
): Promise<Result> {
  const config = loadProcessConfig({ env: context.env });
  const names = config.compliance.map((connection) => connection.name);
  requireConnection(names, flags.connection);
  const scope = servedBusinessOf(config, flags);
  const connection = config.compliance.find((one) => one.name === scope.connection);
  if (!connection) throw new Error(`the connection ${scope.connection} was just found`);
  const dialect = parseDialect(connection.dialect ?? {});
  requireDescribed(dialect, name);
  const dispatchers = createDispatchers();
  try {
    const client = createComplianceClient({
      baseUrl: connection.baseUrl,
      apiKey: connection.apiKey,
      auth: connection.auth,
      keyReach: connection.keyReach,
      dialect,
      transport: createTransport(dispatchers),
      timeoutMs: config.timings.callTimeoutMs,
    });
    return await work({ client, dialect, call: { businessId: scope.businessId, signal: context.signal } }, scope);
  } catch (error) {
    throw context.signal.aborted ? new InterruptedError() : error;
  } finally {
    await dispatchers.close();
  }
}
