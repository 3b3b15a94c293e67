import { WorkflowNotFoundError } from "@temporalio/client";
import { vi } from "vitest";

import { LOOK_PAUSE_MS, PATIENCE_MS } from "./patience.ts";
import type { Rig } from "./start-rig.ts";

const UNTIL = { timeout: PATIENCE_MS, interval: LOOK_PAUSE_MS };

/**
 * Deletes a closed workflow with its history, as the server does by itself when the retention has passed.
 * @param runId one run of several; default: the last one
 */
export async function forgetWorkflow({ client, namespace }: Rig, workflowId: string, runId?: string): Promise<void> {
  await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } });
  const isGone = (): Promise<boolean> =>
    client.workflow
      .getHandle(workflowId, runId)
      .describe()
      .then(
        () => false,
        (error: unknown) => error instanceof WorkflowNotFoundError,
      );
  await vi.waitUntil(isGone, UNTIL);
  const query = `WorkflowId = "${workflowId}"${runId === undefined ? "" : ` AND RunId = "${runId}"`}`;
  await vi.waitUntil(async () => (await client.workflow.count(query)).count === 0, UNTIL);
}
