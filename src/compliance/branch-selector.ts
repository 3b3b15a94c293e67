import type { Branch } from "../contract/calls.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { ComplianceInputError } from "./errors.ts";

/**
 * What names the branch in a body. Nothing where no branch is given, or where the dialect's name is `null`: then the
 * service takes the business's first branch.
 *
 * @throws ComplianceInputError where the dialect wants the authority's id and the branch has none
 */
export function branchField(
  name: string | null,
  by: "id" | "authorityId",
  branch: Branch | undefined,
): Record<string, string> {
  if (name === null || branch === undefined) return {};
  const value = by === "id" ? branch.id : branch.authorityBhfId;
  if (value !== undefined && value !== "") return { [name]: value };
  throw new ComplianceInputError(
    "invalid-argument",
    `branch ${JSON.stringify(branch.id)} has no authorityBhfId, and the dialect sends branches by it (branchBy "authorityId")`,
  );
}

/**
 * Of a dialect that sends no branch: no movement names one, so none waits for somebody to look at another one's branch.
 */
export const BRANCH_NOT_SENT = "not sent";

/** The name and the form under which the dialect sends the branch of a movement. */
export function branchSentAs({ branch, branchBy }: ComplianceDialect["stock"]): string {
  return branch === null ? BRANCH_NOT_SENT : `${JSON.stringify(branch)} by ${branchBy}`;
}
