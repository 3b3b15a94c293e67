import { invalidRequest } from "./api-error.ts";
import type { BranchBy } from "./dialect.ts";
import type { Branch, Business } from "./scenario-schema.ts";

/** The branch that a selector names; the business's first branch without one. */
export function chooseBranch(
  business: Business,
  field: string | null,
  selector: string | null,
  by: BranchBy | "either",
): Branch {
  const first = business.branches[0];
  const chosen =
    selector === null
      ? first
      : business.branches.find(
          (branch) =>
            (by !== "id" && branch.authorityBhfId === selector) ||
            ((by === "id" || by === "either") && branch.id === selector),
        );
  if (chosen === undefined)
    throw invalidRequest(field ?? "branch", "names no branch of the business", { branches: business.branches });
  return chosen;
}
