import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

import { type SaleOutcome, STATE_QUERY, type WorkflowState } from "../../contract/index.ts";
import { isWithoutAnswer } from "../../starter/answered-in-time.ts";
import { isUnreadable } from "../../starter/unreadable-run.ts";

const ANSWER_WITHIN_MS = 3_000;

/**
 * Asks sales for the totals of their documents, as decimal texts: of one that completed its result tells, of others a
 * worker. Once no worker has answered, none is asked any more: a list is not to wait for it sale by sale.
 */
export function documentTotals(client: Client): (execution: WorkflowExecutionInfo) => Promise<string | null> {
  let isAnswered = true;
  return async ({ workflowId, runId, status }) => {
    const isCompleted = status.name === "COMPLETED";
    if (!isCompleted && !isAnswered) return null;
    const handle = client.workflow.getHandle(workflowId, runId);
    const ask = async () =>
      isCompleted
        ? ((await handle.result()) as SaleOutcome).sale
        : (await handle.query<WorkflowState>(STATE_QUERY)).document;
    try {
      const document = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);
      return document ? String(document.totals.total) : null;
    } catch (error) {
      // A list still knows a run for a moment that Temporal has deleted.
      if (error instanceof WorkflowNotFoundError || isUnreadable(error)) return null;
      if (!isWithoutAnswer(error)) throw error;
      isAnswered = isCompleted;
      return null;
    }
  };
}
