import { isGrpcServiceError } from "@temporalio/client";

import { vi } from "vitest";

import { LOOK_PAUSE_MS, PATIENCE_MS } from "./patience.ts";
import type { Rig } from "./start-rig.ts";

const NOT_FOUND = 5;
const UNTIL = { timeout: PATIENCE_MS, interval: LOOK_PAUSE_MS };

/**
 * Deletes a closed workflow with its history, as the server does by itself when the retention has passed.
 * @param runId one run of several; default: all of them
 */
export async function forgetWorkflow({ client, namespace }: Rig, workflowId: string, runId?: string): Promise<void> {
  const query = `WorkflowId = "${workflowId}"${runId === undefined ? "" : ` AND RunId = "${runId}"`}`;
  // The client's own calls read memos, and fail upon one that nobody can read.
  const { workflowService } = client;
  const execution = { workflowId, runId };
  const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({ namespace, execution });
  const last = workflowExecutionInfo?.execution?.runId;
  // Otherwise the list could learn of the run's end after its deletion, and keep it for ever.
  const isListedAsClosed = async (): Promise<boolean> =>
    (await client.workflow.count(`${query} AND RunId = "${last}" AND ExecutionStatus != "Running"`)).count === 1;
  await vi.waitUntil(isListedAsClosed, UNTIL);
  const { executions } = await workflowService.listWorkflowExecutions({ namespace, query });
  // The server puts off for seconds to delete a run that has just closed, unless it is asked again.
  const isGone = ({ execution: workflowExecution }: (typeof executions)[number]): Promise<boolean> =>
    workflowService.deleteWorkflowExecution({ namespace, workflowExecution: workflowExecution ?? null }).then(
      () => false,
      (error: unknown) => isGrpcServiceError(error) && error.code === NOT_FOUND,
    );
  await Promise.all(executions.map((run) => vi.waitUntil(() => isGone(run), UNTIL)));
  await vi.waitUntil(async () => (await client.workflow.count(query)).count === 0, UNTIL);
}
