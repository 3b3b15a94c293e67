import { SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from "../../contract/index.ts";
import type { Scope } from "./scope.ts";

export interface Listing extends Scope {
  /** An operator's own filter, in Temporal's language. */
  query?: string;
  attention?: boolean;
  stage?: string;
  /** Credit notes too: they need people by themselves. */
  creditNotes?: boolean;
  openOnly?: boolean;
}

/** A list filter of Temporal. */
export function visibilityQuery(listing: Listing): string {
  const { sale, creditNote } = WORKFLOW_TYPES;
  const types = listing.creditNotes === true ? [sale, creditNote] : [sale];
  const { connection, business, stage, query } = listing;
  const clauses = [
    `WorkflowType IN (${types.map(quoted).join(", ")})`,
    query === undefined ? undefined : `(${query})`,
    listing.attention === true ? `${SEARCH_ATTRIBUTES.attention} IS NOT NULL` : undefined,
    listing.openOnly === true ? 'ExecutionStatus = "Running"' : undefined,
    stage === undefined ? undefined : `${SEARCH_ATTRIBUTES.stage} = ${quoted(stage)}`,
    business === undefined ? undefined : `${SEARCH_ATTRIBUTES.business} = ${quoted(business)}`,
    connection === undefined ? undefined : ofConnection(connection, listing.creditNotes === true),
  ];
  return clauses.filter((clause) => clause !== undefined).join(" AND ");
}

/** The connection is no search attribute, but ids begin with it. */
function ofConnection(connection: string, creditNotes: boolean): string {
  const prefixes = [`sale/${connection}/`, ...(creditNotes ? [`credit-note/${connection}/`] : [])];
  return `(${prefixes.map((prefix) => `WorkflowId STARTS_WITH ${quoted(prefix)}`).join(" OR ")})`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
