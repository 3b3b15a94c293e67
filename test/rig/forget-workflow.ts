import { isGrpcServiceError } from "@temporalio/client";

import { vi } from "vitest";

import { LOOK_PAUSE_MS, PATIENCE_MS } from "./patience.ts";
import type { Rig } from "./start-rig.ts";

const NOT_FOUND = 5;
const UNTIL = { timeout: PATIENCE_MS, interval: LOOK_PAUSE_MS };

/**
 * Deletes a closed workflow with its history, as the server does by itself when the retention has passed.
 * @param runId one run of several; default: the last one
 */
export async function forgetWorkflow({ client, namespace }: Rig, workflowId: string, runId?: string): Promise<void> {
  const query = `WorkflowId = "${workflowId}"${runId === undefined ? "" : ` AND RunId = "${runId}"`}`;
  // Otherwise the list could learn of the run's end after its deletion, and keep it for ever.
  const isListedAsClosed = async (): Promise<boolean> =>
    (await client.workflow.count(`${query} AND ExecutionStatus = "Running"`)).count === 0;
  await vi.waitUntil(isListedAsClosed, UNTIL);
  // The server puts off for seconds to delete a run that has just closed, unless it is asked again.
  const isGone = (): Promise<boolean> =>
    client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } }).then(
      () => false,
      (error: unknown) => isGrpcServiceError(error) && error.code === NOT_FOUND,
    );
  await vi.waitUntil(isGone, UNTIL);
  await vi.waitUntil(async () => (await client.workflow.count(query)).count === 0, UNTIL);
}
