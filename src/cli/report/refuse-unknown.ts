import type { Config } from "../../config/index.ts";
import { NO_BUSINESS } from "../../contract/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import { UsageError } from "../cli-error.ts";
import type { Scope } from "../sale/scope.ts";
import { listed } from "./configured-note.ts";

/**
 * A mistyped business would have an empty report, which a reader takes for a business without sales.
 * @throws UsageError where neither the ledger nor the configuration has what was asked for
 */
export async function refuseUnknown(
  { events }: Pick<Ledger, "events">,
  { compliance }: Pick<Config, "compliance">,
  { connection, business }: Scope,
): Promise<void> {
  const asked = compliance.filter(({ name }) => connection === undefined || name === connection);
  const isConfigured = asked.some(
    ({ businesses, sellers }) =>
      business === undefined ||
      business === NO_BUSINESS ||
      businesses.includes(business) ||
      Object.hasOwn(sellers, business),
  );
  if ((connection === undefined && business === undefined) || isConfigured) return;
  if (await events.any({ connection, businessId: business })) return;
  const what = [
    ...(business === undefined ? [] : [`business "${business}"`]),
    ...(connection === undefined ? [] : [`connection "${connection}"`]),
  ].join(" of ");
  const configured = compliance.flatMap(({ name, businesses }) =>
    businesses.map((businessId) => ({ connection: name, businessId })),
  );
  const hint = configured.length === 0 ? "" : ` Configured here: ${listed(configured)}.`;
  throw new UsageError(`Neither the ledger nor the configuration has a ${what}.${hint}`);
}
