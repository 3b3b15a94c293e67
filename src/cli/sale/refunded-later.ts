import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from "../../contract/index.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { runsOf } from "./runs.ts";
import type { Scope } from "./scope.ts";
import { allOf, businessClause, ENDED, idClause, quoted, RUNNING, typesClause } from "./visibility-query.ts";

export type RefundStage = "crediting" | "credited";

export function isRefundStage(stage: string | undefined): stage is RefundStage {
  return stage === "crediting" || stage === "credited";
}

/**
 * Sales that were refunded after their workflow had closed at the stage `completed`, which their own attributes keep:
 * they are found by their credit notes.
 * @param ended only those whose workflow ended without an outcome
 */
export async function refundedLater(
  client: Client,
  { connection, business }: Scope,
  stage: RefundStage,
  ended: boolean,
): Promise<WorkflowExecutionInfo[]> {
  const unfinished = `(${RUNNING} OR ${ENDED}) AND ${SEARCH_ATTRIBUTES.stage} != "credited"`;
  const ofNote = stage === "credited" ? stageClause(stage) : unfinished;
  const notes = allOf([
    typesClause([WORKFLOW_TYPES.creditNote]),
    ofNote,
    businessClause(business),
    connection === undefined ? undefined : idClause([`credit-note/${connection}/`]),
  ]);
  const saleIds = new Set<string>();
  for await (const note of client.workflow.list({ query: notes })) {
    const saleId = attributesOf(note).get(SEARCH_ATTRIBUTES.saleId);
    if (saleId !== undefined) saleIds.add(saleId);
  }
  const closed = allOf([
    typesClause([WORKFLOW_TYPES.sale]),
    ended ? ENDED : 'ExecutionStatus != "Running"',
    stageClause("completed"),
    businessClause(business),
    connection === undefined ? undefined : idClause([`sale/${connection}/`]),
  ]);
  const sales: WorkflowExecutionInfo[] = [];
  for await (const sale of runsOf(client, saleIds, closed, SEARCH_ATTRIBUTES.saleId)) sales.push(sale);
  return sales;
}

function stageClause(stage: string): string {
  return `${SEARCH_ATTRIBUTES.stage} = ${quoted(stage)}`;
}
