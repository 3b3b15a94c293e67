import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

import { closedInWords, WORKFLOW_TYPES } from "../../contract/index.ts";
import { closedRunOf } from "../../starter/closed-run.ts";
import { batchJob } from "../accounting/batch-job.ts";
import { billPaymentsSync } from "../accounting/bill-payments-sync.ts";
import { itemsRegistration } from "../items/items-registration.ts";
import { purchasesSync } from "../purchases/purchases-sync.ts";
import { reconciliation } from "../reconcile/reconciliation.ts";
import { inParallel } from "../sale/in-parallel.ts";

/** By the workflow's type: what its result says, in a few words. */
const IN_A_FEW_WORDS: Readonly<Record<string, (result: never) => string>> = {
  [WORKFLOW_TYPES.registerItems]: itemsRegistration.inAFewWords,
  [WORKFLOW_TYPES.syncPurchases]: purchasesSync.inAFewWords,
  [WORKFLOW_TYPES.syncBillPayments]: billPaymentsSync.inAFewWords,
  [WORKFLOW_TYPES.processSyncBatch]: batchJob("").inAFewWords,
  [WORKFLOW_TYPES.reconcile]: reconciliation.inAFewWords,
};

/** Temporal's list has no results: each is one call. */
const CALLS_AT_A_TIME = 8;

/** What each job ended with; null for one that runs, and for one whose history Temporal has deleted. */
export function jobOutcomes(client: Client, jobs: readonly WorkflowExecutionInfo[]): Promise<(string | null)[]> {
  return inParallel(jobs, CALLS_AT_A_TIME, (job) => outcomeOf(client, job));
}

async function outcomeOf(client: Client, job: WorkflowExecutionInfo): Promise<string | null> {
  if (job.status.name === "RUNNING") return null;
  const { workflowId, runId, type } = job;
  try {
    const closed = await closedRunOf(client, job);
    if (closed) return closedInWords(closed);
    const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
    return IN_A_FEW_WORDS[type]?.((await handle.result()) as never) ?? null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
