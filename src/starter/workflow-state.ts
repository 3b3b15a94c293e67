import type { Client } from "@temporalio/client";

import { endedInWords } from "../contract/closed-run.ts";
import type { SaleState } from "./answer-from-ledger.ts";
import { type LaterCreditNote, laterCreditNote } from "./later-credit-note.ts";
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
  const { ended: _, ...refunded } = later;
  // What else it had to do when it ended, nobody does.
  if (needsRestart(state) || later.stage === "completed") return { ...state, ...refunded };
  return { ...state, ...refunded, waitingFor: waitingForOf(later) };
}

function waitingForOf({ stage, creditNote, refund, creditNoteWorkflowId, ended }: LaterCreditNote): string {
  const note = creditNote?.traderInvoiceNumber ?? refund?.traderInvoiceNumber ?? creditNoteWorkflowId;
  if (ended)
    return `nothing: the workflow of its credit note ${note} ${endedInWords(ended)}; nobody carries it on until it is restarted`;
  return stage === "crediting" ? `the credit note ${note}` : "nothing";
}
