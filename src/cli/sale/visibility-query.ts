import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import {
  CLOSED_STATUSES,
  SEARCH_ATTRIBUTES,
  syncBillPaymentsWorkflowId,
  WORKFLOW_TYPES,
  type WorkflowType,
} from "../../contract/index.ts";
import { GRPC, grpcErrorsOf } from "../../starter/errors.ts";
import { listedRuns } from "../../starter/runs.ts";
import { UsageError } from "../context.ts";
import type { Scope } from "../options.ts";

/** List filters of Temporal. The connection is no search attribute, but ids begin with it. */

export const RUNNING = 'ExecutionStatus = "Running"';
export const ENDED = `ExecutionStatus IN (${Object.values(CLOSED_STATUSES).map(quoted).join(", ")})`;

export function salesQuery({ connection, business }: Scope, ...clauses: readonly string[]): string {
  const isOfConnection = connection === undefined ? undefined : startsWith(`sale/${connection}/`);
  return allOf([ofTypes([WORKFLOW_TYPES.sale]), ...clauses, ofBusiness(business), isOfConnection]);
}

export const JOB_TYPES: readonly WorkflowType[] = [
  WORKFLOW_TYPES.registerItems,
  WORKFLOW_TYPES.syncPurchases,
  WORKFLOW_TYPES.syncBillPayments,
  WORKFLOW_TYPES.processSyncBatch,
  WORKFLOW_TYPES.reconcile,
];

/** Jobs, each with its latest run. */
export function jobsQuery({ connection, business, attention }: Scope & { attention?: boolean }): string {
  const prefixes = ["register-items", "sync-purchases", "sync-batch", "reconcile"];
  const isOfConnection = [
    ...prefixes.map((prefix) => startsWith(`${prefix}/${connection}/`)),
    `WorkflowId = ${quoted(syncBillPaymentsWorkflowId(connection ?? ""))}`,
  ].join(" OR ");
  return allOf([
    ofTypes(JOB_TYPES),
    'ExecutionStatus != "ContinuedAsNew"',
    // A run that is closed keeps its attributes, and takes no operator's updates.
    attention === true ? `${SEARCH_ATTRIBUTES.attention} IS NOT NULL AND ${RUNNING}` : undefined,
    ofBusiness(business),
    connection === undefined ? undefined : `(${isOfConnection})`,
  ]);
}

export function allOf(clauses: readonly (string | undefined)[]): string {
  return clauses.filter((clause) => clause !== undefined).join(" AND ");
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}

export function ofTypes(types: readonly string[]): string {
  return `WorkflowType IN (${types.map(quoted).join(", ")})`;
}

function ofBusiness(business: string | undefined): string | undefined {
  return business === undefined ? undefined : `${SEARCH_ATTRIBUTES.business} = ${quoted(business)}`;
}

function startsWith(prefix: string): string {
  return `WorkflowId STARTS_WITH ${quoted(prefix)}`;
}

/** @throws UsageError where Temporal does not understand the query */
export async function* runsOfQuery(client: Client, query: string): AsyncGenerator<WorkflowExecutionInfo> {
  try {
    yield* listedRuns(client, { query });
  } catch (error) {
    const refused = grpcErrorsOf(error).find(({ code }) => code === GRPC.INVALID_ARGUMENT);
    if (!refused) throw error;
    const sent = `It was sent as: ${query}`;
    throw new UsageError(`Temporal does not understand the query: ${refused.details}. ${sent}`, { cause: error });
  }
}
