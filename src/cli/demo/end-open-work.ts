import type { Client } from "@temporalio/client";
import { SEARCH_ATTRIBUTES } from "../../contract/index.ts";
import { backOfficeJobs } from "./back-office/back-office-jobs.ts";
import type { DemoPlan } from "./demo-plan.ts";

const REASON = "The fiscalflow demo that it belongs to has ended.";

/**
 * On a server that outlives the demo: what the demo left open would go on in the hands of the next worker there, which
 * is connected to other services.
 */
export async function endOpenWork(client: Client, plan: DemoPlan): Promise<void> {
  const end = (workflowId: string): Promise<unknown> =>
    client.workflow
      .getHandle(workflowId)
      .terminate(REASON)
      // It may have ended by itself meanwhile, or never have been started.
      .catch(() => undefined);
  const query = `${SEARCH_ATTRIBUTES.business} = ${JSON.stringify(plan.businessId)} AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of client.workflow.list({ query })) await end(workflowId);
  // Those of the accounting service belong to no business.
  for (const { workflowId } of backOfficeJobs(plan)) await end(workflowId);
}
