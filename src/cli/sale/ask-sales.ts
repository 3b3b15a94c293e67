import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

import { type SaleOutcome, STATE_QUERY, type WorkflowState } from "../../contract/index.ts";
import { isUnreadable, isWithoutAnswer } from "../../starter/answered-in-time.ts";
import { hasNoWorkLeft } from "../../starter/closed-run.ts";

const ANSWER_WITHIN_MS = 3_000;

/**
 * Asks sales what no list tells: of one that completed its result tells, of others a worker. Once no worker has
 * answered, none is asked any more: a list is not to wait for it sale by sale.
 */
export function askSales(client: Client) {
  let isAnswered = true;
  async function answer<Answer>(ask: () => Promise<Answer>, needsWorker: boolean): Promise<Answer | undefined> {
    if (needsWorker && !isAnswered) return undefined;
    try {
      return await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);
    } catch (error) {
      // A list still knows a run for a moment that Temporal has deleted.
      if (error instanceof WorkflowNotFoundError || isUnreadable(error)) return undefined;
      if (!isWithoutAnswer(error)) throw error;
      isAnswered = !needsWorker;
      return undefined;
    }
  }
  const handleOf = ({ workflowId, runId }: WorkflowExecutionInfo) => client.workflow.getHandle(workflowId, runId);
  const stateOf = (run: WorkflowExecutionInfo) => handleOf(run).query<WorkflowState>(STATE_QUERY);
  return {
    /** The total of its document, as a decimal text. */
    totalOf: async (run: WorkflowExecutionInfo): Promise<string | null> => {
      const isCompleted = run.status.name === "COMPLETED";
      const ask = async () =>
        isCompleted ? ((await handleOf(run).result()) as SaleOutcome).sale : (await stateOf(run)).document;
      const document = await answer(ask, !isCompleted);
      return document ? String(document.totals.total) : null;
    },
    /** Of a run that ended without an outcome: whether a restart would find nothing to do, as far as anybody tells. */
    hasNoWorkLeft: async (run: WorkflowExecutionInfo): Promise<boolean> => {
      const state = await answer(() => stateOf(run), true);
      return state !== undefined && hasNoWorkLeft(state);
    },
  };
}
