import { CLOSED_STATUSES, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from "../../contract/index.ts";
import type { Scope } from "./scope.ts";

export interface Listing extends Scope {
  /** An operator's own filter, in Temporal's language. */
  query?: string;
  attention?: boolean;
  stage?: string;
  /** Runs that ended without an outcome. */
  ended?: boolean;
  openOnly?: boolean;
}

/** A list filter of Temporal. */
export function visibilityQuery(listing: Listing): string {
  const { connection, stage } = listing;
  return allOf([
    typesClause([WORKFLOW_TYPES.sale]),
    listing.query === undefined ? undefined : `(${listing.query})`,
    listing.attention === true ? NEEDS_AN_OPERATOR : undefined,
    listing.ended === true ? ENDED : undefined,
    listing.openOnly === true ? RUNNING : undefined,
    stage === undefined ? undefined : `${SEARCH_ATTRIBUTES.stage} = ${quoted(stage)}`,
    businessClause(listing.business),
    connection === undefined ? undefined : idClause([`sale/${connection}/`]),
  ]);
}

/** The connection is no search attribute, but ids begin with it. */
export function idClause(prefixes: readonly string[], ids: readonly string[] = []): string {
  const clauses = [
    ...prefixes.map((prefix) => `WorkflowId STARTS_WITH ${quoted(prefix)}`),
    ...ids.map((id) => `WorkflowId = ${quoted(id)}`),
  ];
  return `(${clauses.join(" OR ")})`;
}

export const RUNNING = 'ExecutionStatus = "Running"';
/** A run that is closed keeps its attributes, and takes no operator's updates. */
export const NEEDS_AN_OPERATOR = `${SEARCH_ATTRIBUTES.attention} IS NOT NULL AND ${RUNNING}`;
export const ENDED = `ExecutionStatus IN (${Object.values(CLOSED_STATUSES).map(quoted).join(", ")})`;

export function typesClause(types: readonly string[]): string {
  return `WorkflowType IN (${types.map(quoted).join(", ")})`;
}

export function businessClause(business: string | undefined): string | undefined {
  return business === undefined ? undefined : `${SEARCH_ATTRIBUTES.business} = ${quoted(business)}`;
}

export function allOf(clauses: readonly (string | undefined)[]): string {
  return clauses.filter((clause) => clause !== undefined).join(" AND ");
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}
