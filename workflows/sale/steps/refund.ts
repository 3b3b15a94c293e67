import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import {
  ApplicationFailure,
  ChildWorkflowFailure,
  condition,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";

import {
  aboutWorkflow,
  areSettled,
  type CreditNoteInput,
  type CreditNoteRunRequest,
  type CreditNoteRunResult,
  creditNoteWorkflowId,
  FAILURES,
  nairobiTime,
  type Refund,
  type SaleOutcome,
  someMovement,
  WORKFLOW_TYPES,
} from "../../../src/contract/index.ts";
import { park } from "../../operator/attention-list.ts";
import { mainWaits } from "../../proxies.ts";
import { rootMessage } from "../../calls/activity-failures.ts";
import { everyUpdateIsAnswered } from "../../sdk/interceptors.ts";
import { returnGoods } from "../../stock/return-goods.ts";
import type { StockKeeping } from "../../stock/stock-keeping.ts";
import { isReset, type SaleContext } from "../state.ts";

/**
 * Keeps a completed sale open for a refund until its window has closed, its stock is settled, no operator is needed, and
 * every caller is answered. A refund that was asked for by then is carried out, window or not: nothing that was accepted
 * is lost.
 */
export async function stayOpenForRefund(
  context: SaleContext,
  stock: StockKeeping,
  { windowMs, callback }: { windowMs: number; callback: "auto" | "off" },
): Promise<void> {
  const { run } = context;
  const closesAtMs = Date.now() + windowMs;
  const refundDue = (): boolean => run.stage === "completed" && run.refund !== undefined;
  const settled = (): boolean => areSettled(run.movements) && !run.parked;
  const nothingLeft = (): boolean => settled() && run.finished && everyUpdateIsAnswered();
  for (;;) {
    const leftMs = run.stage === "completed" && !run.refundWindowClosed ? closesAtMs - Date.now() : 0;
    if (run.refund && refundDue()) {
      if (!(await runRefund(context, stock, run.refund, callback))) {
        run.refund = undefined;
        run.isRefundGivenUp = true;
      }
    } else if (leftMs > 0) {
      run.moveTo("completed", `a refund, until ${nairobiTime(closesAtMs)}`);
      await condition(() => refundDue() || run.refundWindowClosed, leftMs, {
        summary: `Refund window until ${nairobiTime(closesAtMs)}`,
      });
    } else if (!settled()) {
      run.moveTo(run.stage, areSettled(run.movements) ? "an operator" : "the end of its stock movements");
      await condition(() => refundDue() || settled());
    } else {
      run.moveTo(run.stage, "its last entries in the ledger");
      await condition(() => refundDue() || !settled() || nothingLeft());
      if (refundDue() || !nothingLeft()) continue;
      run.moveTo(run.stage, "nothing");
      return;
    }
  }
}

/**
 * True once the credit note is signed. A credit note that was given up leaves the sale as it was, and so does one whose
 * number is another sale's: the callers who wait for the refund get that answer, else an operator is needed.
 */
async function runRefund(
  context: SaleContext,
  stock: StockKeeping,
  refund: Refund,
  callback: "auto" | "off",
): Promise<boolean> {
  const { run, target } = context;
  const sale = run.document;
  if (!sale) throw new Error("a completed sale has its document");
  const workflowId = creditNoteWorkflowId({ ...target, saleId: sale.id });
  run.creditNoteWorkflowId = workflowId;
  run.moveTo("crediting", `the credit note ${refund.traderInvoiceNumber}`);
  for (;;) {
    const { reason, traderInvoiceNumber, returnDate } = refund;
    const saleWorkflowId = run.workflowId;
    // The goods are this run's to return: it knows what it took, and what is still on its way.
    const note = { reason, traderInvoiceNumber, returnDate, restock: false, callback, saleWorkflowId, original: sale };
    const result = await runOneCreditNote(workflowId, { ...target, saleId: sale.id, ...note });
    run.creditNoteAttention = undefined;
    if (result.kind === "ended") {
      run.creditNote = result.creditNote;
      if (result.stage !== "credited") {
        run.moveTo("completed", "a refund: the credit note was given up");
        return false;
      }
      // Goods come back for this refund alone: not for somebody else's credit note, and not after a run that gave them
      // back itself.
      const ours = result.creditNote?.traderInvoiceNumber === refund.traderInvoiceNumber;
      const restock = refund.restock === true && ours && !result.restocked;
      run.moveTo("credited", restock ? "the goods' return to stock" : "its end");
      if (restock) await returnGoods(context, stock, refund, sale);
      return true;
    }
    if (result.conflict && run.refundCallers > 0) {
      run.refundRefused = { refund, message: result.message };
      run.moveTo("completed", `a refund under another number than ${refund.traderInvoiceNumber}`);
      return false;
    }
    const message = result.conflict
      ? `The credit note was refused, and nothing was issued: ${result.message} Acknowledge this, then refund the sale under another number.`
      : `The credit note's workflow ended without an outcome: ${result.message}. A retry carries it on, also where it was restarted meanwhile; to acknowledge leaves the sale as it is, without this refund.`;
    const attention = { code: "unexpected-answer", subject: workflowId, message } as const;
    // A retry would ask for the same number.
    const verdict = await park(run, { ...attention, ...(result.conflict && { resolvedBy: ["acknowledge"] as const }) });
    if (verdict === "acknowledged") {
      run.moveTo("completed", "a refund: the credit note's workflow ended without an outcome");
      return false;
    }
  }
}

/**
 * Runs the credit note, or waits for the one that there is: after a reset, or started by hand, its outcome is the
 * refund's. Only one that was given up makes room for another, and only for a refund that was asked for since.
 */
export async function runOneCreditNote(workflowId: string, input: CreditNoteInput): Promise<CreditNoteRunResult> {
  const known = await startCreditNote(workflowId, input, WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY);
  if (known !== "known") return known;
  const earlier = await awaitCreditNote({ workflowId, ...(isReset() && { givenAgain: input.traderInvoiceNumber }) });
  if (earlier.kind !== "ended" || earlier.stage !== "cancelled" || earlier.isAnswered) return earlier;
  const another = await startCreditNote(workflowId, input, WorkflowIdReusePolicy.ALLOW_DUPLICATE);
  return another === "known" ? await awaitCreditNote({ workflowId }) : another;
}

/**
 * Runs the credit note as a child that outlives this workflow. `known`: there is a run of it that is no child of this
 * one.
 */
async function startCreditNote(
  workflowId: string,
  input: CreditNoteInput,
  workflowIdReusePolicy: WorkflowIdReusePolicy,
): Promise<CreditNoteRunResult | "known"> {
  const { traderInvoiceNumber } = input;
  try {
    const child = await startChild<(input: CreditNoteInput) => Promise<SaleOutcome>>(WORKFLOW_TYPES.creditNote, {
      workflowId,
      args: [input],
      // The default would end the credit note together with its sale.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy,
      ...aboutWorkflow("creditNote", input, `${traderInvoiceNumber} for the sale ${input.saleId}`),
    });
    const outcome = await child.result();
    const restocked = someMovement(outcome, ({ purpose }) => purpose === "restocked");
    return { kind: "ended", stage: outcome.stage, creditNote: outcome.creditNote ?? null, restocked };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return "known";
    if (error instanceof ChildWorkflowFailure) {
      const conflict = error.cause instanceof ApplicationFailure && error.cause.type === FAILURES.conflict;
      return { kind: "failed", message: rootMessage(error), ...(conflict && { conflict }) };
    }
    throw error;
  }
}

const awaitCreditNote = (request: CreditNoteRunRequest): Promise<CreditNoteRunResult> =>
  mainWaits.awaitCreditNoteRun("Wait for the credit note: each attempt is one look", request);
