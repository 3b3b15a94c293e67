import { syncBillPaymentsWorkflowId, WORKFLOW_TYPES, type WorkflowType } from "../../contract/index.ts";
import type { Scope } from "../sale/scope.ts";
import { allOf, businessClause, idClause, NEEDS_AN_OPERATOR, typesClause } from "../sale/visibility-query.ts";

/** The workflows that are no sale. */
export const JOB_TYPES: readonly WorkflowType[] = [
  WORKFLOW_TYPES.registerItems,
  WORKFLOW_TYPES.syncPurchases,
  WORKFLOW_TYPES.syncBillPayments,
  WORKFLOW_TYPES.processSyncBatch,
  WORKFLOW_TYPES.reconcile,
];

/**
 * A list filter of Temporal: jobs, each with its latest run.
 */
export function jobsQuery({ connection, business, attention }: Scope & { attention?: boolean }): string {
  return allOf([
    typesClause(JOB_TYPES),
    'ExecutionStatus != "ContinuedAsNew"',
    ...(attention === true ? [NEEDS_AN_OPERATOR] : []),
    businessClause(business),
    connection === undefined ? undefined : ofConnection(connection),
  ]);
}

function ofConnection(connection: string): string {
  const prefixes = ["register-items", "sync-purchases", "sync-batch", "reconcile"];
  return idClause(
    prefixes.map((prefix) => `${prefix}/${connection}/`),
    [syncBillPaymentsWorkflowId(connection)],
  );
}
