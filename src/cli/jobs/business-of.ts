import type { Config } from "../../config/index.ts";
import { DEFAULT_CONNECTION } from "../../contract/index.ts";
import { UsageError } from "../cli-error.ts";
import type { Scope } from "../sale/scope.ts";

/** A business through a connection. */
export interface BusinessScope {
  connection: string;
  businessId: string;
}

/** The business that the flags name, with the configuration's default. @throws UsageError */
export function businessOf(
  { compliance }: Pick<Config, "compliance">,
  { connection = DEFAULT_CONNECTION, business }: Scope,
): BusinessScope {
  const configured = compliance.find(({ name }) => name === connection);
  if (business === undefined && !configured) {
    const known = compliance.map(({ name }) => name).join(", ") || "none";
    throw new UsageError(
      `The connection "${connection}" is not configured here (configured: ${known}), so its business is not known. Give --business ID, or run with the worker's configuration.`,
    );
  }
  const businessId = business ?? configured?.businessId;
  if (businessId !== undefined) return { connection, businessId };
  const known = configured?.businesses.join(", ") || undefined;
  const hint = known === undefined ? "" : ` (configured: ${known})`;
  throw new UsageError(
    `The key of connection "${connection}" is organisation-wide and has no default business: give --business ID${hint}.`,
  );
}
