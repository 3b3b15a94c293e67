import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import {
  defineQuery,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  sleep,
  startChild,
} from "@temporalio/workflow";

import {
  aboutWorkflow,
  type FindSaleInput,
  type FindSaleResult,
  type FirstOutcomeRequest,
  type JobState,
  MAIN_TASK_QUEUE,
  type ReadEventsInput,
  type ReadEventsResult,
  type SaleOutcome,
  type ScheduledInput,
  type ScheduledOutcome,
  SIGNALS,
  STATE_QUERY,
  type SyncRequested,
  WORKFLOW_TYPES,
  type WorkflowType,
} from "../src/contract/index.ts";
import { runJobToCompletion } from "./job/job.ts";
import { main, mainWaits } from "./proxies.ts";

/** Asks the ledger for a sale that Temporal no longer knows. Its caller bounds it by an execution timeout. */
export async function findSale(input: FindSaleInput): Promise<FindSaleResult> {
  return await runQuestion(WORKFLOW_TYPES.findSale, "the ledger", () =>
    main.findSale("Ask the ledger for the sale", { input }),
  );
}

export async function readEvents(input: ReadEventsInput): Promise<ReadEventsResult> {
  return await runQuestion(WORKFLOW_TYPES.readEvents, "the ledger", () =>
    mainWaits.readEvents("Read events from the ledger", { input }),
  );
}

/**
 * Waits for the first outcome of a sale, on behalf of one caller through Nexus. If it is cancelled, the sale goes on.
 */
export async function firstOutcome(request: FirstOutcomeRequest): Promise<SaleOutcome> {
  const outcome = `the outcome of ${request.workflowId}`;
  return await runQuestion(WORKFLOW_TYPES.firstOutcome, outcome, () =>
    mainWaits.awaitFirstOutcome(`Wait for ${outcome}`, request),
  );
}

const stateQuery = defineQuery<JobState<object>>(STATE_QUERY);

/** It takes no update. */
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

const PAUSE = "10 minutes";
/** A day of pauses: the Schedule comes again by then. */
const MOST_TRIES = 144;

/**
 * Starts the workflow of that name under the one id that it may have, so that one that an operator has started is not
 * overtaken (docs/decisions/0012). It ends at once; the other goes on by itself.
 */
export async function scheduled({ workflow, workflowId, input, ifRunning }: ScheduledInput): Promise<ScheduledOutcome> {
  let tries = 1;
  const state = (): JobState<object> => {
    const waitingFor = `the end of ${workflowId}, which is under way`;
    return { workflow: WORKFLOW_TYPES.scheduled, waitingFor, progress: { tries }, attentions: [], decisions: [] };
  };
  setHandler(stateQuery, state, { description: "What the start of the workflow waits for." });
  for (; ; tries++) {
    try {
      await startChild(workflow, {
        workflowId,
        taskQueue: MAIN_TASK_QUEUE,
        args: [input],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
        ...aboutWorkflow(workflow, input),
      });
      return "started";
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      if (ifRunning === "ask" && (await isAsked(workflowId, input))) return "asked";
      if (ifRunning === "skip" || tries >= MOST_TRIES) return "skipped";
      await sleep(PAUSE, { summary: "Another run is under way: try again after a pause" });
    }
  }
}

/** False if it has ended meanwhile, or takes no signal any more. */
async function isAsked(workflowId: string, { full }: SyncRequested): Promise<boolean> {
  try {
    await getExternalWorkflowHandle(workflowId).signal<[SyncRequested]>(SIGNALS.syncRequested, { full });
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
}
