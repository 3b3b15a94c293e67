import { randomUUID } from "node:crypto";
import type { Client } from "@temporalio/client";

/**
 * Resets a workflow to the end of its first workflow task, of its last one, or of the last one before an activity was
 * scheduled (for the first time, or the last), as an operator does in Temporal's UI. Returns the new run's id.
 */
export async function resetRun(
  client: Client,
  namespace: string,
  workflowId: string,
  to?: "last-task" | { activity: string; last?: boolean },
  earlierRunId?: string,
): Promise<string> {
  const handle = client.workflow.getHandle(workflowId, earlierRunId);
  const events = (await handle.fetchHistory()).events ?? [];
  const { runId } = await handle.describe();
  const before = to === "last-task" ? undefined : to;
  const scheduled = events.flatMap(({ activityTaskScheduledEventAttributes: task }, index) =>
    before && task?.activityType?.name === before.activity ? [index] : [],
  );
  const at = to === "last-task" ? events.length : (scheduled.at(before?.last === true ? -1 : 0) ?? -1);
  const candidates = events.slice(0, at < 0 ? undefined : at + 1).filter((e) => e.workflowTaskCompletedEventAttributes);
  const last = at < 0 ? candidates.at(0) : candidates.at(-1);
  const answer = await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    reason: "a test of what a reset does",
    workflowTaskFinishEventId: last?.eventId,
    requestId: randomUUID(),
  });
  return answer.runId;
}
