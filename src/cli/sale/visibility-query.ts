import { SEARCH_ATTRIBUTES, syncBillPaymentsWorkflowId, WORKFLOW_TYPES } from "../../contract/index.ts";
import type { Scope } from "./scope.ts";

export interface Listing extends Scope {
  /** An operator's own filter, in Temporal's language. */
  query?: string;
  attention?: boolean;
  stage?: string;
  /** Credit notes too: they need people by themselves. */
  creditNotes?: boolean;
  /** What is no document, too, while it is open: a closed one waits for nobody. */
  jobs?: boolean;
  openOnly?: boolean;
}

const { registerItems, syncPurchases, syncBillPayments, processSyncBatch, reconcile } = WORKFLOW_TYPES;
const JOBS = [registerItems, syncPurchases, syncBillPayments, processSyncBatch, reconcile];

/** A list filter of Temporal. */
export function visibilityQuery(listing: Listing): string {
  const { sale, creditNote } = WORKFLOW_TYPES;
  const documents = ofTypes(listing.creditNotes === true ? [sale, creditNote] : [sale]);
  const { connection, business, stage, query } = listing;
  const clauses = [
    listing.jobs === true ? `(${documents} OR (${ofTypes(JOBS)} AND ExecutionStatus = "Running"))` : documents,
    query === undefined ? undefined : `(${query})`,
    listing.attention === true ? `${SEARCH_ATTRIBUTES.attention} IS NOT NULL` : undefined,
    listing.openOnly === true ? 'ExecutionStatus = "Running"' : undefined,
    stage === undefined ? undefined : `${SEARCH_ATTRIBUTES.stage} = ${quoted(stage)}`,
    business === undefined ? undefined : `${SEARCH_ATTRIBUTES.business} = ${quoted(business)}`,
    connection === undefined ? undefined : ofConnection(connection),
  ];
  return clauses.filter((clause) => clause !== undefined).join(" AND ");
}

function ofTypes(types: readonly string[]): string {
  return `WorkflowType IN (${types.map(quoted).join(", ")})`;
}

/** The connection is no search attribute, but ids have it behind their kind. */
function ofConnection(connection: string): string {
  const beginnings = ["sale", "credit-note", "register-items", "sync-purchases", "reconcile", "sync-batch"].map(
    (kind) => `WorkflowId STARTS_WITH ${quoted(`${kind}/${connection}/`)}`,
  );
  return `(${[...beginnings, `WorkflowId = ${quoted(syncBillPaymentsWorkflowId(connection))}`].join(" OR ")})`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
