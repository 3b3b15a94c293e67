import { type FirstOutcomeRequest, type SaleOutcome, WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { runQuestion } from "../job/question.ts";
import { mainWaits } from "../proxies.ts";

/**
 * Waits for the first outcome of a sale or a credit note, on behalf of one caller through Nexus, and changes nothing:
 * if it is cancelled or terminated, the sale goes on.
 */
export async function firstOutcome(request: FirstOutcomeRequest): Promise<SaleOutcome> {
  const { workflowId } = request;
  return await runQuestion(
    {
      workflow: WORKFLOW_TYPES.firstOutcome,
      waitsFor: `the outcome of ${workflowId}`,
      progress: (told) => ({ waitsFor: workflowId, told }),
      description: "Which workflow it waits for. The outcome is this workflow's result.",
    },
    () => mainWaits.awaitFirstOutcome(`Wait for the outcome of ${workflowId}`, request),
  );
}
