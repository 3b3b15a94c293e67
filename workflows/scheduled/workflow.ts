import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { ParentClosePolicy, sleep, startChild } from "@temporalio/workflow";

import {
  aboutWorkflow,
  MAIN_TASK_QUEUE,
  type ScheduledInput,
  type ScheduledOutcome,
} from "../../src/contract/index.ts";

const PAUSE = "10 minutes";
/** A day of pauses: the Schedule comes again by then. */
const MOST_TRIES = 144;

/**
 * What a Schedule starts: the workflow of that name under the one id that it may have, so that one that an operator has
 * started is not overtaken (docs/decisions/0012). It ends at once; the other goes on by itself.
 */
export async function scheduled({ workflow, workflowId, input, ifRunning }: ScheduledInput): Promise<ScheduledOutcome> {
  for (let tries = 1; ; tries++) {
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
      if (ifRunning === "skip" || tries >= MOST_TRIES) return "skipped";
      await sleep(PAUSE, { summary: "Another run is under way: try again after a pause" });
    }
  }
}
