import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { condition, ParentClosePolicy, startChild } from "@temporalio/workflow";

import {
  aboutWorkflow,
  type CallTarget,
  type ConflictDetails,
  type CorrectedSaleInput,
  FAILURES,
  fewOf,
  type Refund,
  type Refusal,
  type Replacement,
  saleContent,
  saleWorkflowId,
  type SeenReplacement,
  WORKFLOW_TYPES,
} from "../../../src/contract/index.ts";
import { callWithEscalation, isRefusal } from "../../calls/between-tries.ts";
import { park, unlessCancelled } from "../../operator/attention-list.ts";
import { type Calls, ledger, main, mainWaits } from "../../proxies.ts";
import type { SaleContext } from "../state.ts";
import { lackingInWords, registerMissing, type RegisteringCalls, resolveBranch } from "./items.ts";

export interface Successor extends Replacement {
  /** The sale itself, if this run was asked for it; else its row alone has it. */
  sale: CorrectedSaleInput | undefined;
}

/**
 * Looks at all that can be known to stand against the corrected sale before anything is credited, and reserves its
 * number.
 * @param context of the credit note
 * @throws ApplicationFailure Conflict, if the sale is not to be credited for it; CancelledByOperator
 */
export async function prepareReplacement(context: SaleContext, invoice: string, refund: Refund): Promise<void> {
  const { run, target } = context;
  run.moveTo("submitting", "what is known of the corrected sale");
  const reserved = await main.reserveReplacement("Check the corrected sale, and reserve its number", {
    ...target,
    invoice,
    refund,
  });
  if (reserved.kind === "refused") throw refused(reserved.message);
  if (reserved.isUnderWay) return;
  const lines = refund.replaceWith?.lines ?? reserved.lines ?? [];
  const asking = { run, target, calls: refusingCalls(context.calls) };
  await unlessCancelled(run, async () => {
    const branch = await resolveBranch(asking, reserved.branch);
    const look = () => asking.calls.read.readItems("Find the items of the corrected sale", { ...target, lines });
    const found = await callWithEscalation(run, look);
    if (found.kind === "unknown")
      throw refused(fewOf(found.unknown.map(({ line, reason }) => `replaceWith.lines[${line}]: ${reason}`)).join("; "));
    await registerMissing({ ...asking, branch }, found.items, (waitingFor) => run.moveTo("submitting", waitingFor));
  });
}

/** Calls of which a refusal ends the correction: it can be asked for again once the cause is corrected. */
function refusingCalls({ read, convergingWrite, wait }: Calls): RegisteringCalls {
  return {
    read: {
      readBranch: async (...asked) => orRefuse(await read.readBranch(...asked)),
      readItems: async (...asked) => orRefuse(await read.readItems(...asked)),
    },
    convergingWrite: {
      registerItem: async (...asked) => {
        const result = orRefuse(await convergingWrite.registerItem(...asked));
        if (result.kind === "needs-data") throw refused(lackingInWords(result));
        return result;
      },
    },
    wait,
  };
}

function orRefuse<Result extends { kind: string }>(result: Result | Refusal): Result | Refusal {
  const isForGood = isRefusal(result) && result.attention !== "credentials" && !result.unserved;
  if (isForGood) throw refused(result.message);
  return result;
}

function refused(why: string): ApplicationFailure {
  const message = `The corrected sale cannot be issued: ${why} Nothing was credited.`;
  const details: ConflictDetails = { fields: ["replaceWith"] };
  return ApplicationFailure.nonRetryable(message, FAILURES.conflict, details);
}

/** Before anybody is told of it: the number may be used again at once, unless something was sent under it. */
export async function giveUpReplacement(
  { run, target }: SaleContext,
  { traderInvoiceNumber: number }: Replacement,
  stage: "cancelled" | "credited" = "cancelled",
): Promise<void> {
  const asked = { ...target, number, replaces: run.invoice };
  await ledger.releaseReplacement("Free the number of the corrected sale", asked);
  run.corrects({ stage });
}

/** Goods that do not come back hold up no document: the corrected sale then takes its own all the same. */
const GOODS_BACK_WITHIN = "10 seconds";

/**
 * Starts the corrected sale, or finds it, and waits until it is signed. If it ends without a document, an operator
 * is asked here.
 * @param goodsBack what the credited sale took, which the corrected one may need
 */
export async function issueReplacement(
  context: SaleContext,
  successor: Successor,
  goodsBack: Promise<void>,
): Promise<void> {
  const { run, target } = context;
  const { traderInvoiceNumber: number } = successor;
  const signed = ({ receipt }: Extract<SeenReplacement, { kind: "signed" }>): void =>
    run.corrects({ stage: "corrected", heldUp: undefined, receipt });
  run.corrects({ stage: "issuing" });
  run.moveTo("credited", `the signature of the corrected sale ${number}`);
  await untilBack(run, goodsBack);
  const look = watch(target, successor);
  for (let reuse: Reuse = "REJECT_DUPLICATE"; ; reuse = "ALLOW_DUPLICATE") {
    const isStarted = await startSale(target, run.invoice, successor, reuse);
    let seen = await look(true);
    for (; seen.kind === "open"; seen = await look(false)) run.corrects({ heldUp: seen.heldUp });
    if (seen.kind === "signed") {
      signed(seen);
      return;
    }
    run.corrects({ heldUp: undefined });
    // Of an earlier use of the number, which was refused or given up.
    if (!isStarted && !seen.begun && reuse === "REJECT_DUPLICATE") continue;
    const retry = seen.retryable ? " A retry starts it again." : "";
    const message = `The sale ${run.invoice} is credited, and its corrected sale ${number} is not issued: ${seen.message}${retry} To acknowledge ends the correction without it: start the corrected sale as a new sale then.`;
    const resolvedBy = seen.retryable ? (["retry", "acknowledge"] as const) : (["acknowledge"] as const);
    const verdict = await park(run, { code: "correction-incomplete", subject: number, message, resolvedBy });
    if (verdict === "retry") continue;
    // Somebody may have restarted it meanwhile.
    const now = await look(true);
    if (now.kind === "signed") signed(now);
    else await giveUpReplacement(context, successor, "credited");
    return;
  }
}

async function untilBack(run: SaleContext["run"], goodsBack: Promise<void>): Promise<void> {
  let isBack = false;
  goodsBack.then(
    () => (isBack = true),
    () => undefined,
  );
  const summary = "The corrected sale waits for the goods of the credited one";
  await condition(() => isBack || run.parked, GOODS_BACK_WITHIN, { summary });
}

type Reuse = "REJECT_DUPLICATE" | "ALLOW_DUPLICATE";

/** A sale that outlives this workflow, as any that a till has started. False if there is a workflow of it. */
async function startSale(
  { connection, businessId }: CallTarget,
  corrects: string,
  { traderInvoiceNumber, fingerprint, sale }: Successor,
  workflowIdReusePolicy: Reuse,
): Promise<boolean> {
  const identity = { connection, ...(businessId !== undefined && { businessId }), traderInvoiceNumber };
  const content = sale && saleContent(sale, businessId);
  try {
    await startChild(WORKFLOW_TYPES.sale, {
      workflowId: saleWorkflowId(identity),
      // By its number alone it is carried out as its row says.
      args: [{ ...sale, ...identity }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy,
      memo: { fingerprint, ...(content && { content }), corrects },
      ...aboutWorkflow(WORKFLOW_TYPES.sale, identity, `${traderInvoiceNumber} (corrects ${corrects})`),
    });
    return true;
  } catch (error) {
    // It is there already, after a reset or started by somebody: whether it is the same one, its row tells.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return false;
  }
}

/**
 * By an activity that waits for news: it costs no history while nothing changes.
 * @returns a look: `anew` asks what is known now; else it answers once that is something else
 */
function watch(target: CallTarget, { traderInvoiceNumber, fingerprint }: Replacement) {
  let lastMark: string | undefined;
  return async (anew: boolean): Promise<SeenReplacement> => {
    const unlike = anew ? undefined : lastMark;
    const asked = { ...target, traderInvoiceNumber, fingerprint, unlike, sinceMs: Date.now() };
    const summary = `Look how the corrected sale ${traderInvoiceNumber} stands: each attempt is one look`;
    const { seen, mark } = await mainWaits.awaitReplacement(summary, asked);
    lastMark = mark;
    return seen;
  };
}
