import type { Client } from "@temporalio/client";

import type { ClosedRun } from "../contract/closed-run.ts";
import { closedInWords } from "../contract/closed-run.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { STATE_QUERY } from "../contract/names.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { closedRunOf } from "./closed-run.ts";
import { laterCreditNote } from "./later-credit-note.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";

/**
 * What the sale's workflow says, with what it cannot know of itself: that it ended without an outcome, and that it was
 * refunded after it had closed.
 * @throws WorkflowNotFoundError, NoAnswerError
 */
export async function workflowState(client: Client, key: SaleKey): Promise<WorkflowState & { closed?: ClosedRun }> {
  const { state, isCompleted } = await stateOfRun(client, saleIdOf(key));
  if (!isCompleted || state.stage !== "completed" || !state.document) return state;
  const later = await laterCreditNote(client, key, state.document.id);
  if (!later) return state;
  const { creditNote } = later;
  const note = creditNote?.traderInvoiceNumber ?? later.creditNoteWorkflowId;
  return { ...state, ...later, ...(later.stage === "crediting" && { waitingFor: `the credit note ${note}` }) };
}

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
