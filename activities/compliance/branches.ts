import type { Business } from "../../src/compliance/index.ts";
import type { Branch, ComplianceActivities } from "../../src/contract/index.ts";
import { beyondTheTable, judgeAnswer, refusalOf, throwToTryAgain } from "./judge.ts";
import { type ActivityContext, runtimeOf } from "./runtime.ts";

type BranchRequest = Parameters<ComplianceActivities["readBranch"]>[0];

/** A branch given by either of its names, resolved to both. Branches hardly ever change: one that was seen is not asked for again. */
export function createBranchActivities(context: ActivityContext): Pick<ComplianceActivities, "readBranch"> {
  const seen = new Map<string, Business[]>();
  return {
    async readBranch(request) {
      const runtime = runtimeOf(context, request.connection);
      const known = findBranch(seen.get(request.connection) ?? [], request, runtime.profile.keyReach);
      if (known) return { kind: "branch", branch: known };
      const judged = await judgeAnswer(runtime, "listBusinesses", request, () => runtime.client.listBusinesses());
      throwToTryAgain(judged, context.random);
      if (!judged.data) return refusalOf(judged) ?? beyondTheTable(judged);
      seen.set(request.connection, judged.data);
      const branch = findBranch(judged.data, request, runtime.profile.keyReach);
      if (branch) return { kind: "branch", branch };
      const message = `The business has no branch "${request.branch}".`;
      return {
        kind: "refused",
        attention: "not-found",
        message,
        details: { branches: branchesOf(judged.data, request, runtime.profile.keyReach) },
      };
    },
  };
}

function findBranch(
  businesses: readonly Business[],
  request: BranchRequest,
  reach: "organisation" | "business",
): Branch | undefined {
  return branchesOf(businesses, request, reach).find(
    ({ id, authorityBhfId }) => id === request.branch || authorityBhfId === request.branch,
  );
}

/** A key that is bound to one business sees that one alone, whatever it is called here. */
function branchesOf(
  businesses: readonly Business[],
  { businessId }: BranchRequest,
  reach: "organisation" | "business",
): Branch[] {
  const meant = reach === "business" ? businesses : businesses.filter(({ id }) => id === businessId);
  return meant.flatMap(({ branches }) => branches);
}
