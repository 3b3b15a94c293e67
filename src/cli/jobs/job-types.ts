import { WORKFLOW_TYPES } from "../../contract/index.ts";
import { batchJob } from "../accounting/batch-job.ts";
import { billPaymentsSync } from "../accounting/bill-payments-sync.ts";
import { itemsRegistration } from "../items/items-registration.ts";
import { purchasesSync } from "../purchases/purchases-sync.ts";
import { reconciliation } from "../reconcile/reconciliation.ts";
import type { JobCommand } from "./job-command.ts";

/** Of whatever type: only what belongs to a workflow of that type may be handed to it. */
type AnyJobCommand = JobCommand<never, never>;

const JOBS: Readonly<Record<string, AnyJobCommand>> = {
  [WORKFLOW_TYPES.registerItems]: itemsRegistration,
  [WORKFLOW_TYPES.syncPurchases]: purchasesSync,
  [WORKFLOW_TYPES.syncBillPayments]: billPaymentsSync,
  [WORKFLOW_TYPES.reconcile]: reconciliation,
};

/** How the command line shows a job; undefined where the workflow's type is no job's. */
export function jobCommandOf({ type, workflowId }: { type: string; workflowId: string }): AnyJobCommand | undefined {
  if (type !== WORKFLOW_TYPES.processSyncBatch) return JOBS[type];
  const id = workflowId.split("/")[2] ?? "";
  // What is bounded or escaped in ways of its own cannot be read back.
  return batchJob(/~|%u/.test(id) ? "<id>" : decodeURIComponent(id));
}
