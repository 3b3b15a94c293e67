import type { ComplianceConnection } from "../../config/index.ts";
import type { Business } from "../../compliance/index.ts";
import { type Finding, warning } from "./finding.ts";

export interface Reach {
  connection: ComplianceConnection;
  businesses: readonly Business[];
}

const SHOWN = 5;

/** Through two connections, one invoice number of a business would become two documents. */
export function checkOverlaps(reaches: readonly Reach[]): Finding[] {
  return reaches.flatMap((reach, index) =>
    reaches.slice(0, index).flatMap((earlier) => {
      const [ours, theirs] = [reach.connection, earlier.connection];
      if (ours.baseUrl !== theirs.baseUrl) return [];
      const known = new Set(earlier.businesses.map(({ id }) => id));
      const shared = reach.businesses.map(({ id }) => id).filter((id) => known.has(id));
      if (shared.length === 0) return [];
      const list = `${shared.slice(0, SHOWN).join(", ")}${shared.length > SHOWN ? `, and ${shared.length - SHOWN} more` : ""}`;
      return [
        warning(
          `connections ${theirs.name} and ${ours.name}`,
          `both keys reach ${list}: one invoice number sent through both becomes two documents`,
          "use one connection for each business: keep one of the keys, or keys that are bound to one business",
        ),
      ];
    }),
  );
}
