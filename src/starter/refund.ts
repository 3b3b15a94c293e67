import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";

import {
  type CreditNoteInput,
  creditNoteWorkflowId,
  MAIN_TASK_QUEUE,
  type RefundRequest,
  type SaleOutcome,
  UPDATES,
  WORKFLOW_TYPES,
} from "../contract/index.ts";
import { parseInput, refundRequestSchema } from "../contract/schema/index.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { NotAllowedError, workflowError } from "./errors.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";
import { waitForOutcome } from "./outcome.ts";

/**
 * Reverses a sale in full: through the sale itself while its refund window is open, else by a credit note of its own. Asking twice for
 * the same refund gives the same credit note.
 */
export async function refundSale(client: Client, key: SaleKey, request: unknown, waitMs: number): Promise<SaleOutcome> {
  const refund: RefundRequest = parseInput(refundRequestSchema, request, "refund request");
  const workflowId = saleIdOf(key);
  const handle = client.workflow.getHandle(workflowId);
  try {
    const outcome = await answeredInTime(client, workflowId, () =>
      handle.executeUpdate<SaleOutcome, [RefundRequest]>(UPDATES.refund, { args: [refund] }),
    );
    if (outcome.stage !== "crediting" || waitMs === 0) return outcome;
    return await waitForOutcome(client, { workflowId, waitMs });
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw workflowError(error.cause ?? error);
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  const closed = await waitForOutcome(client, { workflowId, waitMs: 0 });
  if (closed.stage === "credited") return sameOrRefused(closed, refund);
  if (closed.stage !== "completed" || !closed.sale)
    throw new NotAllowedError(`The sale ${key.invoice} is ${closed.stage}; only a completed sale can be refunded.`);
  const { connection, businessId } = key;
  return await creditDirectly(
    client,
    { connection, businessId, saleId: closed.sale.id, ...refund } as CreditNoteInput,
    waitMs,
  );
}

function sameOrRefused(closed: SaleOutcome, refund: RefundRequest): SaleOutcome {
  const known = closed.creditNote?.traderInvoiceNumber;
  if (known === refund.traderInvoiceNumber) return closed;
  throw new NotAllowedError(
    `The sale is credited already, by ${known ?? "another credit note"}; a sale has one credit note at most.`,
  );
}

/** Starts the credit note of a sale whose own workflow is closed, or finds the one that there is. */
export async function creditDirectly(client: Client, input: CreditNoteInput, waitMs: number): Promise<SaleOutcome> {
  const { connection = "default", businessId, saleId, traderInvoiceNumber } = input;
  const workflowId = creditNoteWorkflowId({ connection, businessId, saleId });
  try {
    await client.workflow.start(WORKFLOW_TYPES.creditNote, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
      workflowIdConflictPolicy: "FAIL",
      staticSummary: `Credit note ${traderInvoiceNumber} for the sale ${saleId} (${connection})`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const outcome = await waitForOutcome(client, { workflowId, waitMs });
  if (outcome.stage === "credited") return sameOrRefused(outcome, { ...input });
  return outcome;
}
