import { forbidden, invalidRequest, notFound } from "./api-error.ts";
import type { Caller } from "./keyring.ts";
import type { Business } from "./scenario-schema.ts";

/** The businesses this caller can act for. */
export function reachable(businesses: ReadonlyMap<string, Business>, caller: Caller): Business[] {
  return [...businesses.values()].filter(
    (business) =>
      business.organisation === caller.application.organisation &&
      business.environment === caller.environment &&
      (caller.boundTo === null || caller.boundTo === business.id),
  );
}

/** The business a call acts for (document, Authentication 2, 3 and 6), or the refusal. */
export function businessFor(
  businesses: ReadonlyMap<string, Business>,
  caller: Caller,
  businessId: string | null,
): Business {
  if (caller.boundTo !== null && businessId !== null && businessId !== caller.boundTo)
    throw forbidden("This key is limited to another business");
  const wanted = caller.boundTo ?? businessId;
  if (wanted === null) throw invalidRequest("businessId", "is required with an organisation-wide key");
  const business = businesses.get(wanted);
  if (business === undefined || business.organisation !== caller.application.organisation) throw notFound("Business");
  if (business.environment !== caller.environment)
    throw forbidden(`A key of the other environment cannot act for a ${business.environment} business`);
  return business;
}
