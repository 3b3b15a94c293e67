import type { Client } from "@temporalio/client";

import { STATE_QUERY, type WorkflowState } from "../../../src/contract/index.ts";
import { msOf } from "../../../src/starter/runs.ts";
import { openWorkflows } from "./open-workflows.ts";

const ANSWER_WITHIN_MS = 5_000;

/** Every workflow that still runs, with what it waits for: so that a reader knows where to look. */
export async function stuckWorkflows(client: Client): Promise<string[]> {
  const open = await openWorkflows(client).catch(() => []);
  return await Promise.all(open.map(({ workflowId }) => describe(client, workflowId)));
}

async function describe(client: Client, workflowId: string): Promise<string> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    return await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, async () => {
      const { raw } = await handle.describe();
      const pending = (raw.pendingActivities ?? []).map((activity) => {
        const { activityType, attempt, lastFailure, state, scheduledTime, lastStartedTime, paused } = activity;
        const { lastWorkerIdentity: worker } = activity;
        const [scheduledAtMs, startedAtMs] = [msOf(scheduledTime), msOf(lastStartedTime)];
        const failure = lastFailure?.message ?? "no failure";
        const how = { state, paused, scheduledAtMs, startedAtMs, worker };
        return `${activityType?.name} attempt ${attempt}: ${failure} ${JSON.stringify(how)}`;
      });
      const { stage, waitingFor, attentions, stockMovements } = await handle.query<WorkflowState>(STATE_QUERY);
      const state = { stage, waitingFor, attentions, stockMovements, pending };
      return `${workflowId}: ${JSON.stringify(state)}`;
    });
  } catch (error) {
    return `${workflowId}: its state cannot be had (${error instanceof Error ? error.message : String(error)})`;
  }
}
