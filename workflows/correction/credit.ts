import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { getExternalWorkflowHandle, ParentClosePolicy, sleep, startChild } from "@temporalio/workflow";

import {
  aboutWorkflow,
  type CallTarget,
  type CorrectionInput,
  refundConflict,
  refundOfCorrection,
  type Refund,
  saleWorkflowId,
  type SeenSale,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { growingPauseMs } from "../calls/activity-failures.ts";
import { park } from "../operator/attention-list.ts";
import { refundRequested } from "../sale/messages.ts";
import { mainWaits } from "../proxies.ts";
import type { CorrectionRun } from "./correction-run.ts";

/**
 * - `credited`: the corrected sale is due. The message says what is still to be done about the credited one
 * - `not-credited`: nothing was credited, or by nobody here
 * - `accepted`: it is credited, and an operator wants no corrected sale
 */
export type Credited = { kind: "credited"; message?: string } | { kind: "not-credited" | "accepted"; message: string };

/**
 * Credits the sale by its own workflow: asks it while it takes messages, else starts it again. Both are commands to
 * Temporal, which carries out each once: no attempt of an activity can come late with another refund.
 */
export async function creditSale(run: CorrectionRun, target: CallTarget, input: CorrectionInput): Promise<Credited> {
  const look = watchSale(target, input.invoice);
  /** The sale's last run was asked for the refund. */
  let isAsked = false;
  let isStarted = false;
  let lookAgain = false;
  for (let unanswered = 0; ;) {
    const seen = await look(lookAgain);
    lookAgain = false;
    // Restarted: its document is looked for, and the look waits for news.
    if (seen?.run === "open" && !seen.saleId) continue;
    if (!seen?.saleId) {
      const message = `Neither Temporal nor the ledger shows the document of ${input.invoice} any more.`;
      await park(run, { code: "correction-incomplete", message, resolvedBy: ["retry"] });
      // Where the sale was started again, it does not know that it was asked.
      isAsked = false;
      lookAgain = true;
      continue;
    }
    run.saleId = seen.saleId;
    run.holdUp("credit-note", seen.heldUp);
    const wanted = refundOfCorrection(input, seen);
    const conflict = seen.refund && refundConflict(seen.refund, wanted);
    if (seen.stage === "credited") {
      const credited = await ofCredited(run, input, seen.creditedBy, conflict);
      return seen.run === "stopped" ? withGoods(credited, input, wanted, seen) : credited;
    }
    if (conflict !== undefined) return { kind: "not-credited", message: conflict };
    if (seen.run !== "open") {
      // What a run was asked for it has carried out, or given up, before it closes.
      if (isAsked && seen.run !== "stopped") return givenUp(input);
      if (isStarted) {
        const message = `The workflow of the sale ${input.invoice} has stopped: ${seen.failure ?? "terminated"}. A retry starts it again.`;
        await park(run, { code: "correction-incomplete", subject: input.creditNote, message, resolvedBy: ["retry"] });
      }
      isAsked = await startAgain(target, input.invoice, wanted);
      isStarted = true;
      lookAgain = true;
    } else if (seen.refund) {
      isAsked = true;
    } else if (isAsked) {
      return givenUp(input);
    } else {
      isAsked = await askForRefund(target, input.invoice, wanted);
      // Once the signal is there, the state shows the refund.
      lookAgain = true;
      const summary = "The sale took no refund: look at it again after a pause";
      if (!isAsked) await sleep(growingPauseMs(unanswered++), { summary });
    }
  }
}

/** False where the sale's workflow has closed meanwhile. */
async function askForRefund(target: CallTarget, invoice: string, refund: Refund): Promise<boolean> {
  const sale = getExternalWorkflowHandle(saleWorkflowId({ ...target, traderInvoiceNumber: invoice }));
  try {
    await sale.signal(refundRequested, refund);
    return true;
  } catch {
    return false;
  }
}

/**
 * The sale's own workflow has ended: it is started again with the refund, and goes on from what the ledger has of it.
 * False where somebody else was faster: that run takes the refund as a signal.
 */
async function startAgain(target: CallTarget, invoice: string, refund: Refund): Promise<boolean> {
  const { connection, businessId } = target;
  try {
    await startChild(WORKFLOW_TYPES.sale, {
      workflowId: saleWorkflowId({ connection, businessId, traderInvoiceNumber: invoice }),
      args: [{ connection, businessId, traderInvoiceNumber: invoice, refund }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      ...aboutWorkflow(WORKFLOW_TYPES.sale, target, invoice),
    });
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return false;
  }
}

/** Not by this correction's credit note: then nothing returned the goods, and an operator decides. */
async function ofCredited(
  run: CorrectionRun,
  { invoice, creditNote, sale }: CorrectionInput,
  by: string | undefined,
  conflict?: string,
): Promise<Credited> {
  if (by === creditNote && conflict === undefined) return { kind: "credited" };
  const how = conflict ?? `The sale ${invoice} was credited by ${by ?? "another credit note"}, not by ${creditNote}.`;
  const message = `${how} Look at the stock: its goods may not have gone back. A retry issues the corrected sale ${sale.traderInvoiceNumber}, which takes its own; to acknowledge ends the correction without it.`;
  const verdict = await park(run, { code: "correction-incomplete", subject: creditNote, message });
  if (verdict === "retry") return { kind: "credited" };
  return { kind: "accepted", message: how };
}

/** A sale that began its refund returns its goods itself, and may have been stopped before it came to that. */
function withGoods(
  credited: Credited,
  { invoice }: CorrectionInput,
  { restock }: Pick<Refund, "restock">,
  { restocked }: { restocked: boolean },
): Credited {
  if (credited.kind !== "credited" || !restock || restocked) return credited;
  const message = `Nothing shows that the goods of the sale ${invoice} went back to stock. Its workflow has stopped: restart the sale, which returns them.`;
  return { ...credited, message };
}

function givenUp({ creditNote }: CorrectionInput): Credited {
  return { kind: "not-credited", message: `The credit note ${creditNote} was given up, so nothing was corrected.` };
}

/** A look at a sale as others see it. @param anew what is known now; else answers once that is something else */
export type Look = (anew: boolean) => Promise<SeenSale | null>;

/** Looks by an activity that waits for news, so that it costs no history while nothing changes. */
export function watchSale(target: CallTarget, number: string): Look {
  let lastMark: string | undefined;
  return async (anew) => {
    const request = { ...target, number, unlike: anew ? undefined : lastMark, sinceMs: Date.now() };
    const summary = `Look how the sale ${number} stands: each attempt is one look`;
    const { sale, mark } = await mainWaits.seeSale(summary, request);
    lastMark = mark;
    return sale;
  };
}
