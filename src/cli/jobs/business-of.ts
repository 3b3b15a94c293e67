import type { Config } from "../../config/index.ts";
import { DEFAULT_CONNECTION, requireServed } from "../../contract/index.ts";
import { requireConnection } from "../../starter/sale-key.ts";
import { UsageError } from "../cli-error.ts";
import type { Scope } from "../sale/scope.ts";

/** A business through a connection. */
export interface BusinessScope {
  connection: string;
  businessId: string;
}

/**
 * The business that the flags name, with the configuration's default. Somebody without the worker's configuration, and
 * so without its keys, names the business and can look at what there is.
 * @throws UsageError, UnknownConnectionError
 */
export function businessOf(
  { compliance }: Pick<Config, "compliance">,
  { connection = DEFAULT_CONNECTION, business }: Scope,
): BusinessScope {
  const names = compliance.map(({ name }) => name);
  if (names.length > 0) requireConnection(names, connection);
  else if (business === undefined)
    throw new UsageError(
      `No connection is configured here, so the business of connection "${connection}" is not known. Give --business ID, or run with the worker's configuration.`,
    );
  const configured = compliance.find(({ name }) => name === connection);
  const businessId = business ?? configured?.businessId;
  if (businessId !== undefined) return { connection, businessId };
  const known = configured?.businesses.join(", ") || undefined;
  const hint = known === undefined ? "" : ` (configured: ${known})`;
  throw new UsageError(
    `The key of connection "${connection}" is organisation-wide and has no default business: give --business ID${hint}.`,
  );
}

/**
 * As {@link businessOf}, for what begins something new.
 * @throws UsageError, UnknownConnectionError, UnknownBusinessError
 */
export function servedBusinessOf(config: Pick<Config, "compliance">, flags: Scope): BusinessScope {
  const scope = businessOf(config, flags);
  const configured = config.compliance.find(({ name }) => name === scope.connection);
  if (configured) requireServed(configured.servedBusinesses, scope.businessId, scope.connection);
  return scope;
}
