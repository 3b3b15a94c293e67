import { MAIN_TASK_QUEUE, SIGNALS } from "../../src/contract/index.ts";
import { PATIENCE_MS } from "./patience.ts";
import type { Rig } from "./start-rig.ts";

/** Of Temporal's `CommandType`. */
const FAIL_WORKFLOW_EXECUTION = 5;

/**
 * Ends an open run as failed, as a worker does whose code throws in the middle of it: takes the run's next workflow
 * task in place of the rig's workers, which are stopped for it and started again. The code as it is cannot replay what
 * such a worker wrote.
 */
export async function failRun(rig: Rig, workflowId: string, message: string): Promise<void> {
  const { client, namespace } = rig;
  const { workflowService } = client;
  await rig.stopWorkers();
  // Any message makes a workflow task.
  await client.workflow.getHandle(workflowId).signal(SIGNALS.callbackReceived);
  for (;;) {
    const task = await client.withDeadline(Date.now() + PATIENCE_MS, () =>
      workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: MAIN_TASK_QUEUE } }),
    );
    const { taskToken, workflowExecution } = task;
    if (taskToken.length === 0) continue;
    if (workflowExecution?.workflowId !== workflowId) {
      await workflowService.respondWorkflowTaskFailed({ namespace, taskToken });
      continue;
    }
    const failure = { message, applicationFailureInfo: { type: "TypeError", nonRetryable: true } };
    await workflowService.respondWorkflowTaskCompleted({
      namespace,
      taskToken,
      commands: [{ commandType: FAIL_WORKFLOW_EXECUTION, failWorkflowExecutionCommandAttributes: { failure } }],
    });
    break;
  }
  await rig.startWorkers();
}
