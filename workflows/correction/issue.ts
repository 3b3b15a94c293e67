import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { ParentClosePolicy, startChild } from "@temporalio/workflow";

import {
  aboutWorkflow,
  type CallTarget,
  type CorrectionInput,
  type PreparedCorrection,
  saleContent,
  saleWorkflowId,
  type SeenSale,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { park } from "../operator/attention-list.ts";
import type { CorrectionRun } from "./correction-run.ts";
import { type Look, watchSale } from "./credit.ts";

type Reuse = "REJECT_DUPLICATE" | "ALLOW_DUPLICATE";

/** How the corrected sale cannot go on by itself. */
interface Stopped {
  message: string;
  /** Starting it again may help. */
  retryable: boolean;
}

/**
 * Starts the corrected sale, or finds it, and waits until it is signed. What it needs an operator for is resolved in
 * its own workflow; where it ends without a document, an operator is asked here.
 * @returns the signed sale; undefined where an operator has accepted that none follows
 */
export async function issueCorrectedSale(
  run: CorrectionRun,
  target: CallTarget,
  input: CorrectionInput,
  prepared: PreparedCorrection,
): Promise<SeenSale | undefined> {
  const number = input.sale.traderInvoiceNumber;
  const look = watchSale(target, number);
  for (let reuse: Reuse = "REJECT_DUPLICATE"; ; reuse = "ALLOW_DUPLICATE") {
    await startSale(target, input, prepared, reuse);
    const end = await untilSigned(run, look, prepared.saleFingerprint);
    if (!("message" in end)) return end;
    const resolvedBy = end.retryable ? (["retry", "acknowledge"] as const) : (["acknowledge"] as const);
    const retry = end.retryable ? " A retry starts it again." : "";
    const message = `The sale ${input.invoice} is credited by ${input.creditNote}, and its corrected sale ${number} is not issued: ${end.message}${retry} To acknowledge ends the correction without it; it can then be corrected again, with the same credit note and another sale.`;
    const verdict = await park(run, { code: "correction-incomplete", subject: number, message, resolvedBy });
    if (verdict !== "retry") return undefined;
  }
}

/** A sale that outlives this workflow, as any that a till has started. */
async function startSale(
  target: CallTarget,
  { invoice }: CorrectionInput,
  { sale, saleFingerprint: fingerprint }: PreparedCorrection,
  workflowIdReusePolicy: Reuse,
): Promise<void> {
  const { traderInvoiceNumber } = sale;
  try {
    await startChild(WORKFLOW_TYPES.sale, {
      workflowId: saleWorkflowId({ ...target, traderInvoiceNumber }),
      args: [sale],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy,
      memo: { fingerprint, content: saleContent(sale, target.businessId), corrects: invoice },
      ...aboutWorkflow(WORKFLOW_TYPES.sale, target, `${traderInvoiceNumber} (corrects ${invoice})`),
    });
  } catch (error) {
    // It is there already, after a reset or started by somebody: whether it is the same one, its content tells.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

async function untilSigned(run: CorrectionRun, look: Look, fingerprint: string): Promise<SeenSale | Stopped> {
  for (let seen = await look(true); ; seen = await look(false)) {
    if (!seen) return { message: "neither Temporal nor the ledger knows it any more.", retryable: true };
    run.holdUp("corrected-sale", seen.heldUp);
    const { stage, failure } = seen;
    if (seen.fingerprint !== undefined && seen.fingerprint !== fingerprint)
      return { message: "the number belongs to a sale with other content.", retryable: false };
    if (stage === "completed" || stage === "crediting" || stage === "credited") return seen;
    if (seen.run === "stopped")
      return { message: `its workflow has stopped (${failure ?? "terminated"}).`, retryable: true };
    if (stage === "cancelled") return { message: "it was cancelled.", retryable: !seen.numberTaken };
    if (seen.run === "forgotten") return { message: `it ended at stage ${stage}.`, retryable: true };
  }
}
