import type { Config, StatedSeller } from "../../config/index.ts";
import { isCalendarDate, nairobiDate, NO_BUSINESS } from "../../contract/index.ts";
import { plainLine } from "../../contract/plain-text.ts";
import type { Days, Ledger, Period } from "../../ledger/index.ts";
import { UsageError } from "../context.ts";
import type { Scope } from "../options.ts";

/** Whose rows: `-` for the business that the key's reach names. */
interface Business {
  connection: string;
  businessId: string;
}

type Connections = Pick<Config, "compliance">;

/** Who a business is, where somebody has said so. */
export type SellerOf = (business: Business) => StatedSeller | undefined;

/** As the setting `sellers` of the business's connection says. */
export function configuredSeller({ compliance }: Connections): SellerOf {
  return ({ connection, businessId }) => {
    const configured = compliance.find(({ name }) => name === connection);
    const id = businessId === NO_BUSINESS ? configured?.businessId : businessId;
    return id !== undefined && configured && Object.hasOwn(configured.sellers, id) ? configured.sellers[id] : undefined;
  };
}

/** For JSON: what is told of a business, with its seller where that is known. */
export function withSeller<Told extends Business>(told: Told, sellerOf: SellerOf): Told & { seller?: StatedSeller } {
  const seller = sellerOf(told);
  return { ...told, ...(seller && { seller }) };
}

/** `Duka Moja Ltd, PIN P051234567Z, biz_1 (connection default)`: as far as it is known who the business is. */
export function headOf(business: Business, sellerOf: SellerOf): string {
  const { connection, businessId } = business;
  const seller = sellerOf(business);
  const id = businessId === NO_BUSINESS ? (seller ? undefined : "The business") : businessId;
  const parts = [seller?.name, seller?.pin && `PIN ${seller.pin}`, id];
  const who = parts.filter((part) => part !== undefined && part !== "").join(", ");
  return plainLine(`${who} (connection ${connection})`);
}

export function nameOf({ connection, businessId }: Business): string {
  return `${businessId} (connection ${connection})`;
}

/**
 * A mistyped business would have an empty report, which a reader takes for a business without sales.
 * @throws UsageError where neither the ledger nor the configuration has what was asked for
 */
export async function refuseUnknown(
  { events }: Pick<Ledger, "events">,
  { compliance }: Connections,
  { connection, business }: Scope,
): Promise<void> {
  if (connection === undefined && business === undefined) return;
  const isConfigured = compliance.some(
    ({ name, businesses, sellers }) =>
      (connection === undefined || name === connection) &&
      (business === undefined ||
        business === NO_BUSINESS ||
        businesses.includes(business) ||
        Object.hasOwn(sellers, business)),
  );
  if (isConfigured || (await events.any({ connection, businessId: business }))) return;
  const asked = [business && `business "${business}"`, connection && `connection "${connection}"`];
  const configured = compliance.flatMap(({ name, businesses }) =>
    businesses.map((businessId) => nameOf({ connection: name, businessId })),
  );
  const hint = configured.length === 0 ? "" : ` Configured here: ${configured.join(", ")}.`;
  throw new UsageError(`Neither the ledger nor the configuration has a ${asked.filter(Boolean).join(" of ")}.${hint}`);
}

export function titleOf({ from, to }: Days): string {
  return from === to ? from : `${from} to ${to}`;
}

/** Why the figures of the period are not all there yet; undefined where it is over. */
export function standingOf(
  { kind, from, to }: Days & { kind: Period["kind"] | "period" },
  nowMs: number,
): string | undefined {
  const today = nairobiDate(nowMs);
  if (today < from) return `The ${kind} has not begun.`;
  return today > to ? undefined : `The ${kind} is not over: its figures are not final.`;
}

/** A day, or a month, of Africa/Nairobi. @throws UsageError */
export function periodOf(kind: Period["kind"], date: string | undefined, nowMs: number): Period {
  const given = date ?? nairobiDate(nowMs);
  if (kind === "day") {
    if (isCalendarDate(given)) return { kind, from: given, to: given };
    throw new UsageError(`Expected --date as a day that exists, written YYYY-MM-DD; found "${given}".`);
  }
  const first = `${given.slice(0, 7)}-01`;
  if (!isCalendarDate(first) || (given.length !== 7 && !isCalendarDate(given)))
    throw new UsageError(`Expected --date as a month written YYYY-MM, or a day in it; found "${given}".`);
  const [year, month] = [Number(first.slice(0, 4)), Number(first.slice(5, 7))];
  const last = new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
  return { kind, from: first, to: last };
}
