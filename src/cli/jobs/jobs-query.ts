import { syncBillPaymentsWorkflowId, WORKFLOW_TYPES } from "../../contract/index.ts";
import type { Scope } from "../sale/scope.ts";
import { allOf, businessClause, idClause, NEEDS_AN_OPERATOR, typesClause } from "../sale/visibility-query.ts";

/**
 * The workflows that are no sale, and the words of the command that starts each: with `--wait` it shows the one that
 * runs.
 */
export const JOB_COMMANDS: Readonly<Record<string, string>> = {
  [WORKFLOW_TYPES.registerItems]: "items register",
  [WORKFLOW_TYPES.syncPurchases]: "purchases sync",
  [WORKFLOW_TYPES.syncBillPayments]: "bill-payments sync",
  [WORKFLOW_TYPES.processSyncBatch]: "batch process",
  [WORKFLOW_TYPES.reconcile]: "reconcile",
};

/**
 * A list filter of Temporal: jobs, each with its latest run.
 */
export function jobsQuery({ connection, business, attention }: Scope & { attention?: boolean }): string {
  return allOf([
    typesClause(Object.keys(JOB_COMMANDS)),
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
