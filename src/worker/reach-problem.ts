import type { Business } from "../compliance/index.ts";
import type { ComplianceConnection } from "../config/index.ts";

export interface ReachProblem {
  /** What is true. */
  message: string;
  /** What to do about it. */
  todo: string;
}

const SHOWN = 10;

/** Why a connection cannot do what it is configured for, by what its key reaches (Fiscal Compliance API, GET /v1/businesses). */
export function reachProblem(
  { keyReach, businessId }: Pick<ComplianceConnection, "keyReach" | "businessId">,
  businesses: readonly Business[],
): ReachProblem | undefined {
  const ids = businesses.map(({ id }) => id);
  if (ids.length === 0) {
    return { message: "reaches no business", todo: "check the key and its environment in the dashboard" };
  }
  if (businessId !== undefined && !ids.includes(businessId)) {
    const more = ids.length > SHOWN ? `, and ${ids.length - SHOWN} more` : "";
    const todo = `set COMPLIANCE_BUSINESS_ID to one of: ${ids.slice(0, SHOWN).join(", ")}${more}`;
    return { message: `does not reach "${businessId}"`, todo };
  }
  if (keyReach === "business" && ids.length > 1) {
    const message = `is configured as bound to one business, and reaches ${ids.length}`;
    return { message, todo: 'it is organisation-wide: set COMPLIANCE_KEY_REACH to "organisation"' };
  }
  return undefined;
}

/** `biz_1 (branches branch_1 = 00, branch_2 = 01)` */
export function describeBusinesses(businesses: readonly Business[]): string {
  const shown = businesses.slice(0, SHOWN).map(({ id, branches }) => {
    const names = branches.slice(0, SHOWN).map((branch) => {
      return branch.authorityBhfId === undefined ? branch.id : `${branch.id} = ${branch.authorityBhfId}`;
    });
    if (branches.length > SHOWN) names.push(`and ${branches.length - SHOWN} more`);
    return names.length === 0 ? id : `${id} (branches ${names.join(", ")})`;
  });
  if (businesses.length > SHOWN) shown.push(`and ${businesses.length - SHOWN} more`);
  return shown.join(", ");
}
