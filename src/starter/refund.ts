import { randomUUID } from "node:crypto";
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";

import {
  type CreditNoteInput,
  creditNoteWorkflowId,
  DEFAULT_CONNECTION,
  MAIN_TASK_QUEUE,
  nairobiDate,
  type RefundRequest,
  type SaleOutcome,
  UPDATES,
  WORKFLOW_TYPES,
} from "../contract/index.ts";
import type { WorkflowIdReusePolicy } from "@temporalio/common";
import { parseInput, refundRequestSchema } from "../contract/schema/index.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { NotAllowedError, workflowError } from "./errors.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";
import { waitForOutcome } from "./outcome.ts";

/**
 * Reverses a sale in full: through the sale itself while its refund window is open, else by a credit note of its own. Asking twice for
 * the same refund gives the same credit note.
 * @throws SaleConflictError where the number is that of another sale's credit note
 */
export async function refundSale(client: Client, key: SaleKey, request: unknown, waitMs: number): Promise<SaleOutcome> {
  const refund: RefundRequest = parseInput(refundRequestSchema, request, "refund request");
  const workflowId = saleIdOf(key);
  const handle = client.workflow.getHandle(workflowId);
  const updateId = randomUUID();
  try {
    const outcome = await answeredInTime(client, workflowId, () =>
      handle.executeUpdate<SaleOutcome, [RefundRequest]>(UPDATES.refund, { args: [refund], updateId }),
    );
    if (outcome.stage !== "crediting" || waitMs === 0) return outcome;
    return await waitForOutcome(client, { workflowId, waitMs });
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw workflowError(error.cause ?? error);
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  const closed = await waitForOutcome(client, { workflowId, waitMs: 0 });
  if (closed.stage === "credited") return sameOrRefused(closed, refund);
  if (closed.stage !== "completed" || !closed.sale) {
    throw new NotAllowedError(`The sale ${key.invoice} is ${closed.stage}; only a completed sale can be refunded.`);
  }
  const { connection, businessId } = key;
  const branch = closed.stockMovements[0]?.branchId;
  const input: CreditNoteInput = {
    ...(connection !== undefined && { connection }),
    ...(businessId !== undefined && { businessId }),
    ...(branch !== undefined && { branch }),
    saleId: closed.sale.id,
    ...refund,
    returnDate: refund.returnDate ?? nairobiDate(Date.now()),
  };
  return await creditDirectly(client, input, waitMs);
}

function sameOrRefused(outcome: SaleOutcome, refund: RefundRequest): SaleOutcome {
  const known = outcome.creditNote?.traderInvoiceNumber;
  if (known === refund.traderInvoiceNumber) return outcome;
  throw otherNote(known);
}

function otherNote(known: unknown): NotAllowedError {
  const by = typeof known === "string" ? known : "another credit note";
  return new NotAllowedError(
    `The sale is being credited, or is credited already, by ${by}; a sale has one credit note at most.`,
  );
}

/** Starts the credit note of a sale whose own workflow is closed, or finds the one that there is. A note that was given up is no hindrance. */
async function creditDirectly(client: Client, input: CreditNoteInput, waitMs: number): Promise<SaleOutcome> {
  const { connection = DEFAULT_CONNECTION, businessId, saleId, traderInvoiceNumber } = input;
  const workflowId = creditNoteWorkflowId({ connection, businessId, saleId });
  const start = (workflowIdReusePolicy: WorkflowIdReusePolicy) =>
    client.workflow.start(WORKFLOW_TYPES.creditNote, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy,
      workflowIdConflictPolicy: "FAIL",
      memo: { traderInvoiceNumber },
      staticSummary: `Credit note ${traderInvoiceNumber} for the sale ${saleId} (${connection})`,
    });
  try {
    await start("ALLOW_DUPLICATE_FAILED_ONLY");
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { status, memo } = await client.workflow.getHandle(workflowId).describe();
    if (status.name === "RUNNING") {
      const known = memo?.["traderInvoiceNumber"];
      if (known !== undefined && known !== traderInvoiceNumber) {
        if (!(await wasGivenUp(client, workflowId))) throw otherNote(known);
        await start("ALLOW_DUPLICATE");
      }
    } else {
      const outcome = await waitForOutcome(client, { workflowId, waitMs: 0 });
      if (outcome.stage === "credited") return sameOrRefused(outcome, input);
      await start("ALLOW_DUPLICATE");
    }
  }
  return await waitForOutcome(client, { workflowId, waitMs });
}

/** A note that was given up is kept in the ledger before its workflow closes, which is waited for. @throws NoAnswerError */
async function wasGivenUp(client: Client, workflowId: string): Promise<boolean> {
  const { stage } = await waitForOutcome(client, { workflowId, waitMs: 0 });
  if (stage !== "cancelled") return false;
  await answeredInTime(client, workflowId, () => client.workflow.getHandle(workflowId).result());
  return true;
}
