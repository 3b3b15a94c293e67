import { WorkflowNotFoundError } from "@temporalio/client";
import { expect } from "vitest";

import type { Rig } from "./start-rig.ts";

/**
 * Deletes a closed workflow with its history, as the server does by itself when the retention has passed.
 * @param runId one run of several; default: the last one
 */
export async function forgetWorkflow({ client, namespace }: Rig, workflowId: string, runId?: string): Promise<void> {
  await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } });
  const known = (): Promise<boolean> =>
    client.workflow
      .getHandle(workflowId, runId)
      .describe()
      .then(
        () => true,
        (error: unknown) => !(error instanceof WorkflowNotFoundError),
      );
  await expect.poll(known).toBe(false);
  const query = `WorkflowId = "${workflowId}"${runId === undefined ? "" : ` AND RunId = "${runId}"`}`;
  await expect.poll(async () => (await client.workflow.count(query)).count).toBe(0);
}
