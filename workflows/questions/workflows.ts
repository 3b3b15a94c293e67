import { defineQuery, setHandler } from "@temporalio/workflow";

import {
  type FindSaleInput,
  type FindSaleResult,
  type FirstOutcomeRequest,
  type JobState,
  type ReadEventsInput,
  type ReadEventsResult,
  type SaleOutcome,
  STATE_QUERY,
  WORKFLOW_TYPES,
  type WorkflowType,
} from "../../src/contract/index.ts";
import { runJobToCompletion } from "../job/job.ts";
import { main, mainWaits } from "../proxies.ts";

/**
 * Asks the ledger for a sale that Temporal no longer knows, so that a caller needs no database. Its caller bounds it by
 * an execution timeout: the answer is for somebody who waits.
 */
export async function findSale(input: FindSaleInput): Promise<FindSaleResult> {
  return await runQuestion(WORKFLOW_TYPES.findSale, "the ledger", () =>
    main.findSale("Ask the ledger for the sale", { input }),
  );
}

/** Reads a page of the ledger's events: like {@link findSale}. */
export async function readEvents(input: ReadEventsInput): Promise<ReadEventsResult> {
  return await runQuestion(WORKFLOW_TYPES.readEvents, "the ledger", () =>
    mainWaits.readEvents("Read events from the ledger", { input }),
  );
}

/**
 * Waits for the first outcome of a sale, on behalf of one caller through Nexus, and changes nothing:
 * if it is cancelled or terminated, the sale goes on.
 */
export async function firstOutcome(request: FirstOutcomeRequest): Promise<SaleOutcome> {
  const outcome = `the outcome of ${request.workflowId}`;
  return await runQuestion(WORKFLOW_TYPES.firstOutcome, outcome, () =>
    mainWaits.awaitFirstOutcome(`Wait for ${outcome}`, request),
  );
}

const stateQuery = defineQuery<JobState<object>>(STATE_QUERY);

/** Runs a workflow that waits for one answer, for somebody who has asked. It takes no update. */
async function runQuestion<Answer>(workflow: WorkflowType, waitsFor: string, ask: () => Promise<Answer>) {
  let answered = false;
  const state = (): JobState<object> => {
    const waitingFor = answered ? "nothing" : waitsFor;
    return { workflow, waitingFor, progress: { answered }, attentions: [], decisions: [] };
  };
  setHandler(stateQuery, state, { description: "Whether it has its answer, which is the workflow's result." });
  return await runJobToCompletion(async () => {
    const answer = await ask();
    answered = true;
    return answer;
  });
}
