import {
  CLOSED_STATUSES,
  SEARCH_ATTRIBUTES,
  syncBillPaymentsWorkflowId,
  WORKFLOW_TYPES,
  type WorkflowType,
} from "../../contract/index.ts";
import type { Scope } from "./scope.ts";

/** A list filter of Temporal for sales. */
export function salesQuery({ connection, business }: Scope, ...clauses: readonly string[]): string {
  return allOf([
    typesClause([WORKFLOW_TYPES.sale]),
    ...clauses,
    businessClause(business),
    connection === undefined ? undefined : idClause([`sale/${connection}/`]),
  ]);
}

/** The workflows that are no sale. */
export const JOB_TYPES: readonly WorkflowType[] = [
  WORKFLOW_TYPES.registerItems,
  WORKFLOW_TYPES.syncPurchases,
  WORKFLOW_TYPES.syncBillPayments,
  WORKFLOW_TYPES.processSyncBatch,
  WORKFLOW_TYPES.reconcile,
];

/** A list filter of Temporal: jobs, each with its latest run. */
export function jobsQuery({ connection, business, attention }: Scope & { attention?: boolean }): string {
  const prefixes = ["register-items", "sync-purchases", "sync-batch", "reconcile"];
  return allOf([
    typesClause(JOB_TYPES),
    'ExecutionStatus != "ContinuedAsNew"',
    attention === true ? NEEDS_AN_OPERATOR : undefined,
    businessClause(business),
    connection === undefined
      ? undefined
      : idClause(
          prefixes.map((prefix) => `${prefix}/${connection}/`),
          [syncBillPaymentsWorkflowId(connection)],
        ),
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
