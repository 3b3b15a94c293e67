import type { Client } from "@temporalio/client";

import { type ClosedRun, closedInWords } from "../contract/closed-run.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { STATE_QUERY } from "../contract/names.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { closedRunOf } from "./closed-run.ts";

/** What a sale's or a credit note's last run says, and how it ended. @throws WorkflowNotFoundError, NoAnswerError */
export async function stateOfRun(
  client: Client,
  workflowId: string,
): Promise<{ state: WorkflowState & { closed?: ClosedRun }; isCompleted: boolean }> {
  const handle = client.workflow.getHandle(workflowId);
  const run = await handle.describe();
  const state = await answeredInTime(client, workflowId, () => handle.query<WorkflowState>(STATE_QUERY));
  const closed = await closedRunOf(client, run);
  const isCompleted = run.status.name === "COMPLETED";
  if (!closed) return { state, isCompleted };
  const waitingFor = `nothing: its workflow was ${closedInWords(closed)}; nobody carries it on until it is restarted`;
  return { state: { ...state, waitingFor, closed }, isCompleted };
}
