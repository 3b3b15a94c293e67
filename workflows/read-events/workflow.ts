import { defineQuery, setHandler } from "@temporalio/workflow";

import {
  type JobState,
  type ReadEventsInput,
  type ReadEventsResult,
  STATE_QUERY,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { runJobToCompletion } from "../job/run-job.ts";
import { mainWaits } from "../proxies.ts";

const stateQuery = defineQuery<JobState<{ answered: boolean }>>(STATE_QUERY);

/**
 * Reads a page of the ledger's events, so that a caller needs no database. Its caller bounds it by an execution timeout:
 * the answer is for somebody who waits.
 */
export async function readEvents(input: ReadEventsInput): Promise<ReadEventsResult> {
  let answered = false;
  setHandler(
    stateQuery,
    () => ({
      workflow: WORKFLOW_TYPES.readEvents,
      waitingFor: answered ? "nothing" : "the ledger",
      progress: { answered },
      attentions: [],
      decisions: [],
    }),
    { description: "Whether the ledger has answered. What it answered is the workflow's result." },
  );
  return await runJobToCompletion(async () => {
    const result = await mainWaits.readEvents("Read events from the ledger", { input });
    answered = true;
    return result;
  });
}
