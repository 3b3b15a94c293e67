import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";

import { aboutWorkflow, MAIN_TASK_QUEUE, type Owner, type WorkflowType } from "../../contract/index.ts";

/** One run of a job at a time; it may be started again once that has ended. @returns false where it runs already */
export async function startJob(client: Client, type: WorkflowType, workflowId: string, input: Owner): Promise<boolean> {
  try {
    await client.workflow.start(type, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      ...aboutWorkflow(type, input),
      workflowIdConflictPolicy: "FAIL",
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
