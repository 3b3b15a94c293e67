import { type Client, WorkflowNotFoundError } from "@temporalio/client";

import type { AttentionCode } from "../contract/attention.ts";
import type { ClosedRun } from "../contract/closed-run.ts";
import { creditNoteWorkflowId } from "../contract/ids.ts";
import { DEFAULT_CONNECTION } from "../contract/names.ts";
import type { SaleDocument } from "../contract/documents.ts";
import type { Refund } from "../contract/sale.ts";
import type { Stage } from "../contract/stages.ts";
import type { SaleKey } from "./sale-key.ts";
import { stateOfRun } from "./state-of-run.ts";

/** What a refund after the window changes in what a closed sale tells. */
export interface LaterCreditNote {
  stage: Stage;
  creditNote?: SaleDocument | null;
  refund?: Refund;
  creditNoteWorkflowId: string;
  creditNoteAttention?: AttentionCode;
  /** How the credit note's run ended, where it has no outcome. */
  ended?: ClosedRun;
}

/**
 * The refund of a sale whose workflow had closed as completed: the sale does not learn of it, its credit note's own
 * workflow tells. Undefined where there is none, or where it was given up or refused. @throws NoAnswerError
 */
export async function laterCreditNote(
  client: Client,
  key: SaleKey,
  saleId: string,
): Promise<LaterCreditNote | undefined> {
  const { connection = DEFAULT_CONNECTION, businessId } = key;
  const workflowId = creditNoteWorkflowId({ connection, businessId, saleId });
  try {
    const { state, isChild } = await stateOfRun(client, workflowId, key);
    const { stage, document, refund, attentions, closed } = state;
    if (stage === "cancelled" || closed?.refused) return undefined;
    const [attention] = attentions;
    return {
      // Of one that the sale has started, within its window, an operator had decided by the time the sale was closed.
      stage: stageOfRefunded(stage, closed !== undefined && isChild),
      ...(document && { creditNote: document }),
      ...(refund && { refund }),
      creditNoteWorkflowId: workflowId,
      ...(attention && !closed && { creditNoteAttention: attention.code }),
      ...(closed && { ended: closed }),
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * The stage of a sale by its credit note's. A note whose workflow ended without an outcome reverses nothing, unless its
 * document was signed.
 */
export function stageOfRefunded(noteStage: Stage, noteEnded: boolean): Stage {
  if (noteStage === "credited") return "credited";
  return noteEnded ? "completed" : "crediting";
}
