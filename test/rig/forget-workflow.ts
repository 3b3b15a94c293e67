import { WorkflowNotFoundError } from "@temporalio/client";
import { expect } from "vitest";

import type { Rig } from "./start-rig.ts";

/** Deletes a closed workflow with its history, as the server does by itself when the retention has passed. */
export async function forgetWorkflow({ client, namespace }: Rig, workflowId: string): Promise<void> {
  await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  const known = (): Promise<boolean> =>
    client.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        () => true,
        (error: unknown) => !(error instanceof WorkflowNotFoundError),
      );
  await expect.poll(known).toBe(false);
  await expect.poll(async () => (await client.workflow.count(`WorkflowId = "${workflowId}"`)).count).toBe(0);
}
