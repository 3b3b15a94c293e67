import { ComplianceInputError } from "./errors.ts";

/** `organisation`: the key acts for every business of its organisation. `business`: it is bound to one. */
export type KeyReach = "organisation" | "business";

/**
 * The `businessId` that is sent (Fiscal Compliance API, "Authentication", 3): required with an organisation-wide key,
 * never sent with a bound one.
 *
 * @throws ComplianceInputError `missing-business-id`
 */
export function sentBusinessId(keyReach: KeyReach, businessId: string | undefined): string | undefined {
  if (keyReach === "business") return undefined;
  if (businessId !== undefined && businessId !== "") return businessId;
  throw new ComplianceInputError(
    "missing-business-id",
    "an organisation-wide key must name the business it acts for: give businessId, or set the key's reach to `business` if it is bound to one",
  );
}

/** The business, in the place that the dialect gives it. */
export function placeBusinessId(
  keyReach: KeyReach,
  businessId: string | undefined,
  place: "query" | "body",
): { query: Record<string, string>; body: Record<string, string> } {
  const sent = sentBusinessId(keyReach, businessId);
  const fields: Record<string, string> = sent === undefined ? {} : { businessId: sent };
  return place === "query" ? { query: fields, body: {} } : { query: {}, body: fields };
}
