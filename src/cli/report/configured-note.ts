import type { Config } from "../../config/index.ts";
import type { BusinessReport } from "../../ledger/index.ts";
import type { Scope } from "../sale/scope.ts";

const SHOWN = 10;

/** What a report leaves out in silence: the configured businesses that the ledger has no document of. */
export function configuredNote(
  { compliance }: Pick<Config, "compliance">,
  { connection, business }: Scope,
  reports: readonly Pick<BusinessReport, "connection" | "businessId">[],
  rows = "documents",
): string | undefined {
  const asked = compliance
    .filter(({ name }) => connection === undefined || name === connection)
    .flatMap(({ name, businesses }) => businesses.map((businessId) => ({ connection: name, businessId })))
    .filter(({ businessId }) => business === undefined || businessId === business);
  const reported = new Set(reports.map(nameOf));
  const absent = asked.filter((one) => !reported.has(nameOf(one)));
  return absent.length === 0 ? undefined : `Configured, and without ${rows} in the ledger: ${listed(absent)}.`;
}

export function listed(businesses: readonly Pick<BusinessReport, "connection" | "businessId">[]): string {
  const more = businesses.length > SHOWN ? `, and ${businesses.length - SHOWN} more` : "";
  return `${businesses.slice(0, SHOWN).map(nameOf).join(", ")}${more}`;
}

/** Where several are named. */
export function nameOf({ connection, businessId }: Pick<BusinessReport, "connection" | "businessId">): string {
  return `${businessId} (connection ${connection})`;
}
