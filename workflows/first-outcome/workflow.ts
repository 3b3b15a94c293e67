import { defineQuery, setHandler } from "@temporalio/workflow";

import {
  type FirstOutcomeRequest,
  type JobState,
  type SaleOutcome,
  STATE_QUERY,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { runJobToCompletion } from "../job/run-job.ts";
import { mainWaits } from "../proxies.ts";

const stateQuery = defineQuery<JobState<{ waitsFor: string; told: boolean }>>(STATE_QUERY);

/**
 * Waits for the first outcome of a sale or a credit note, on behalf of one caller through Nexus, and changes nothing:
 * if it is cancelled or terminated, the sale goes on.
 */
export async function firstOutcome(request: FirstOutcomeRequest): Promise<SaleOutcome> {
  let told = false;
  setHandler(
    stateQuery,
    () => ({
      workflow: WORKFLOW_TYPES.firstOutcome,
      waitingFor: told ? "nothing" : `the outcome of ${request.workflowId}`,
      progress: { waitsFor: request.workflowId, told },
      attentions: [],
      decisions: [],
    }),
    { description: "Which workflow it waits for. The outcome is this workflow's result." },
  );
  return await runJobToCompletion(async () => {
    const outcome = await mainWaits.awaitFirstOutcome(`Wait for the outcome of ${request.workflowId}`, request);
    told = true;
    return outcome;
  });
}
