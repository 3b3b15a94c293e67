import type { Business } from "../compliance/index.ts";
import type { ComplianceConnection } from "../config/index.ts";
import { fewOf } from "../contract/plain-text.ts";

interface ReachProblem {
  /** What is true. */
  message: string;
  /** What to do about it. */
  todo: string;
}

/**
 * Why a connection cannot do what it is configured for, by what its key reaches (Fiscal Compliance API, GET
 * /v1/businesses).
 */
export function reachProblem(
  {
    keyReach,
    businessId,
    businesses: configured,
  }: Pick<ComplianceConnection, "keyReach" | "businessId" | "businesses">,
  businesses: readonly Business[],
): ReachProblem | undefined {
  const ids = businesses.map(({ id }) => id);
  if (ids.length === 0) {
    return { message: "reaches no business", todo: "check the key and its environment in the dashboard" };
  }
  const missing = configured.filter((id) => !ids.includes(id));
  if (missing.length > 0) {
    const message = `does not reach ${firstFew(missing.map((id) => `"${id}"`))}`;
    const onlyTheDefault = missing.length === 1 && missing[0] === businessId;
    const todo = onlyTheDefault
      ? `set COMPLIANCE_BUSINESS_ID to one of: ${firstFew(ids)}`
      : `leave in COMPLIANCE_BUSINESSES and COMPLIANCE_BUSINESS_ID what it reaches: ${firstFew(ids)}`;
    return { message, todo };
  }
  if (keyReach === "business" && ids.length > 1) {
    const message = `is configured as bound to one business, and reaches ${ids.length}`;
    return { message, todo: 'it is organisation-wide: set COMPLIANCE_KEY_REACH to "organisation"' };
  }
  return undefined;
}

/** The first of them, and how many more there are. */
export function firstFew(texts: readonly string[]): string {
  return fewOf(texts, 10).join(", ");
}

/** `biz_1 (branches branch_1 = 00, branch_2 = 01)` */
export function describeBusinesses(businesses: readonly Business[]): string {
  const described = businesses.map(({ id, branches }) => {
    const names = branches.map((branch) =>
      branch.authorityBhfId === undefined ? branch.id : `${branch.id} = ${branch.authorityBhfId}`,
    );
    return names.length === 0 ? id : `${id} (branches ${firstFew(names)})`;
  });
  return firstFew(described);
}

/**
 * What to tell an operator of a connection with a live key that does not say whether the service honours the
 * Idempotency-Key of a sale (Fiscal Compliance API, "POST /v1/credit-notes" alone shows the header). Undefined where
 * nothing is to be told.
 */
export function unstatedSaleKey({
  name,
  environment,
  statesSaleKey,
}: Pick<ComplianceConnection, "name" | "environment" | "statesSaleKey">):
  | { message: string; todo: string }
  | undefined {
  if (environment !== "live" || statesSaleKey) return undefined;
  const message =
    `connection ${name} has a live key and does not state createSale.idempotencyKey, so "sent" is used: ` +
    "the API's document shows the Idempotency-Key header for credit notes only";
  const todo =
    'ask the provider whether it honours the header on POST /v1/sales, and state it in COMPLIANCE_DIALECT: "trusted" if it does ' +
    '(when an answer is lost, the sale is sent again under the same key), "sent" or "off" if it does not ' +
    "(when an answer is lost, the sale waits for an operator as document-unknown and is never sent again)";
  return { message, todo };
}
