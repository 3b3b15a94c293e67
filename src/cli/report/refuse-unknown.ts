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
  ledger: Pick<Ledger, "events">,
  config: Pick<Config, "compliance">,
  asked: Scope,
): Promise<void> {
  const why = await whyUnknown(ledger, config, asked);
  if (why !== undefined) throw new UsageError(why);
}

/** Undefined where the ledger or the configuration has what was asked for. */
export async function whyUnknown(
  { events }: Pick<Ledger, "events">,
  { compliance }: Pick<Config, "compliance">,
  { connection, business }: Scope,
): Promise<string | undefined> {
  const asked = compliance.filter(({ name }) => connection === undefined || name === connection);
  const isConfigured = asked.some(
    ({ businesses, sellers }) =>
      business === undefined ||
      business === NO_BUSINESS ||
      businesses.includes(business) ||
      Object.hasOwn(sellers, business),
  );
  if ((connection === undefined && business === undefined) || isConfigured) return undefined;
  if (await events.any({ connection, businessId: business })) return undefined;
  const what = [
    ...(business === undefined ? [] : [`business "${business}"`]),
    ...(connection === undefined ? [] : [`connection "${connection}"`]),
  ].join(" of ");
  const configured = compliance.flatMap(({ name, businesses }) =>
    businesses.map((businessId) => ({ connection: name, businessId })),
  );
  const hint = configured.length === 0 ? "" : ` Configured here: ${listed(configured)}.`;
  return `Neither the ledger nor the configuration has a ${what}.${hint}`;
}
