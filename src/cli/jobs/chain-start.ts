import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

type Run = Pick<WorkflowExecutionInfo, "workflowId" | "runId" | "startTime">;

/**
 * When a job was started (Unix milliseconds). A long job continues as new: each of its runs has a start of its own, and
 * knows the first one. Once Temporal has deleted that one, the start of this run is all there is.
 */
export async function chainStartMs(client: Client, { workflowId, runId, startTime }: Run): Promise<number> {
  const describe = (id: string) => client.workflow.getHandle(workflowId, id).describe();
  try {
    const firstRunId = (await describe(runId)).raw.workflowExecutionInfo?.firstRunId;
    if (!firstRunId || firstRunId === runId) return startTime.getTime();
    return (await describe(firstRunId)).startTime.getTime();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return startTime.getTime();
    throw error;
  }
}
