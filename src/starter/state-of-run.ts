import type { Client } from "@temporalio/client";

import { type ClosedRun, closedInWords } from "../contract/closed-run.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { STATE_QUERY } from "../contract/names.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { closedRunOf } from "./closed-run.ts";
import { type PendingCall, pendingCallsOf } from "./pending-calls.ts";

/** What the run says of itself, and what Temporal says of it. */
export type StateOfRun = WorkflowState & { closed?: ClosedRun; pendingCalls?: PendingCall[] };

/** What a sale's or a credit note's last run says, and how it ended. @throws WorkflowNotFoundError, NoAnswerError */
export async function stateOfRun(
  client: Client,
  workflowId: string,
): Promise<{ state: StateOfRun; isCompleted: boolean }> {
  const handle = client.workflow.getHandle(workflowId);
  const run = await handle.describe();
  const state = await answeredInTime(client, workflowId, () => handle.query<WorkflowState>(STATE_QUERY));
  const closed = await closedRunOf(client, run);
  const isCompleted = run.status.name === "COMPLETED";
  if (!closed) return { state: withPendingCalls(state, pendingCallsOf(client, run)), isCompleted };
  const waitingFor = `nothing: its workflow was ${closedInWords(closed)}; nobody carries it on until it is restarted`;
  // What a call of it has met says nothing any more.
  const { serviceTrouble: _, ...last } = state;
  return { state: { ...last, waitingFor, closed }, isCompleted };
}

/** The workflow does not see the attempts of its activities: what they have met is its trouble too. */
function withPendingCalls(state: WorkflowState, pendingCalls: PendingCall[]): StateOfRun {
  if (pendingCalls.length === 0) return state;
  const troubles = [state.serviceTrouble, ...pendingCalls.map(({ trouble }) => trouble)];
  const [serviceTrouble] = troubles
    .filter((trouble) => trouble !== undefined)
    .toSorted((a, b) => a.sinceMs - b.sinceMs);
  return { ...state, ...(serviceTrouble && { serviceTrouble }), pendingCalls };
}
