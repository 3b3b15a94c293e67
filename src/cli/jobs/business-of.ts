import type { Config } from "../../config/index.ts";
import { DEFAULT_CONNECTION } from "../../contract/index.ts";
import { UsageError } from "../cli-error.ts";
import type { Scope } from "../sale/scope.ts";
import type { JobScope } from "./job-command.ts";

/** The business that the flags name, with the configuration's default. @throws UsageError */
export function businessOf(
  { compliance }: Pick<Config, "compliance">,
  { connection = DEFAULT_CONNECTION, business }: Scope,
): JobScope {
  const configured = compliance.find(({ name }) => name === connection);
  if (business === undefined && !configured) {
    const known = compliance.map(({ name }) => name).join(", ") || "none";
    throw new UsageError(
      `The connection "${connection}" is not configured here (configured: ${known}), so its business is not known. Give --business ID, or run with the worker's configuration.`,
    );
  }
  const businessId = business ?? configured?.businessId;
  if (businessId !== undefined) return { connection, businessId };
  throw new UsageError(
    `The key of connection "${connection}" is organisation-wide and has no default business: give --business ID.`,
  );
}
