import type { Client } from "@temporalio/client";

import type { SaleState } from "./answer-from-ledger.ts";
import { laterCreditNote } from "./later-credit-note.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";
import { needsRestart, stateOfRun } from "./state-of-run.ts";

/**
 * What the sale's workflow says, with what it cannot know of itself: that it ended without an outcome, and that it was
 * refunded after it had closed, whichever way.
 * @throws WorkflowNotFoundError, NoAnswerError, LedgerAwayError, SaleFailedError
 */
export async function workflowState(client: Client, key: SaleKey): Promise<SaleState> {
  const { state, isCompleted } = await stateOfRun(client, saleIdOf(key), key);
  if (!(isCompleted || state.closed) || state.stage !== "completed" || !state.document) return state;
  const later = await laterCreditNote(client, key, state.document.id);
  if (!later) return state;
  const { creditNote } = later;
  const note = creditNote?.traderInvoiceNumber ?? later.creditNoteWorkflowId;
  // What else it had to do when it ended, nobody does.
  if (needsRestart(state) || later.stage === "completed") return { ...state, ...later };
  return { ...state, ...later, waitingFor: later.stage === "crediting" ? `the credit note ${note}` : "nothing" };
}
