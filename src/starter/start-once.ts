import { WorkflowExecutionAlreadyStartedError, type WorkflowIdReusePolicy } from "@temporalio/client";

/**
 * Starts a workflow, unless there is one under its id. True where this call started it.
 * @param isFree whether the run that is there leaves the id free
 */
export async function startOnce(
  start: (reuse: WorkflowIdReusePolicy) => Promise<unknown>,
  isFree: () => Promise<boolean>,
): Promise<boolean> {
  // Who takes a freed id before this call does is looked at as any other run.
  for (let reuse: WorkflowIdReusePolicy = "REJECT_DUPLICATE"; ; reuse = "ALLOW_DUPLICATE") {
    try {
      await start(reuse);
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    if (!(await isFree())) return false;
  }
}
