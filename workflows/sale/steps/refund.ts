import { condition } from "@temporalio/workflow";

import { areSettled, keptRefund, nairobiTime, type Refund, replacementOf } from "../../../src/contract/index.ts";
import { park } from "../../operator/attention-list.ts";
import { everyUpdateIsAnswered } from "../../sdk/interceptors.ts";
import { returnGoods } from "../../stock/return-goods.ts";
import type { StockKeeping } from "../../stock/stock-keeping.ts";
import { withReturnDate } from "../messages.ts";
import type { SaleContext, SaleState } from "../state.ts";
import { creditSale } from "./credit-note.ts";
import { giveUpReplacement, issueReplacement, prepareReplacement, type Successor } from "./replacement.ts";

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
 * True once the credit note is signed, and with it whatever is to follow the sale; or where the refund is another one
 * now, for which it was sent. One that was given up leaves the sale
 * as it was, and so does one that is refused, as for a number that is another sale's: the callers who wait for the
 * refund get that answer, else an operator is needed.
 */
async function runRefund(
  context: SaleContext,
  stock: StockKeeping,
  refund: Refund,
  callback: "auto" | "off",
): Promise<boolean> {
  const { run } = context;
  const sale = run.document;
  if (!sale) throw new Error("a completed sale has its document");
  const successor = beginCorrection(run, refund);
  run.moveTo("crediting", `the credit note ${refund.traderInvoiceNumber}`);
  // The corrected sale takes its own.
  const restock = refund.restock ?? (successor && run.tookStock);
  const asked = keptRefund({ ...withReturnDate(refund), restock }, run.businessId);
  const end = await creditSale(context, sale, asked, callback, async (ofNote) => {
    if (!successor) return;
    await prepareReplacement(ofNote, run.invoice, refund);
    keepReplaced(refund, successor, restock);
    run.corrects({ stage: "crediting" });
  });
  switch (end.kind) {
    case "signed": {
      run.moveTo("credited", restock ? "the goods' return to stock" : "its end");
      const goodsBack = restock ? returnGoods(context, stock, refund, sale) : Promise.resolve();
      await Promise.all([goodsBack, successor && issueReplacement(context, successor, goodsBack)]);
      return true;
    }
    case "credited-elsewhere":
      run.moveTo("credited", "its end");
      if (successor) await replaceAllTheSame(context, successor);
      return true;
    case "given-up":
      if (successor) await giveUpReplacement(context, successor);
      run.moveTo("completed", "a refund: the credit note was given up");
      return false;
    case "sent-for-another": {
      const message = `The credit note ${refund.traderInvoiceNumber} was sent already, for another refund.`;
      run.refundRefused = { refund, message, fields: ["replaceWith"] };
      run.refund = end.refund;
      run.moveTo("completed", `the credit note ${refund.traderInvoiceNumber}, which was sent already`);
      return true;
    }
    case "refused":
      if (successor) await giveUpReplacement(context, successor);
      if (run.refundCallers > 0) run.refundRefused = { refund, message: end.message, fields: end.fields };
      else await showRefused(run, end.message, successor !== undefined);
      run.moveTo("completed", `a refund under another number than ${refund.traderInvoiceNumber}`);
      return false;
  }
}

/** What the refund puts in place of the sale; undefined where that is nothing. */
function beginCorrection(run: SaleState, refund: Refund): Successor | undefined {
  const replacement = replacementOf(refund, run.businessId);
  run.correction = undefined;
  if (!replacement) return undefined;
  const { traderInvoiceNumber: correctedBy } = replacement;
  run.correction = { correctedBy, creditNote: refund.traderInvoiceNumber, stage: "preparing" };
  return { ...replacement, sale: refund.replaceWith };
}

/** From here on the row of the corrected sale has what was asked for. Whoever waits for the refund holds on to it. */
function keepReplaced(
  refund: Refund,
  { traderInvoiceNumber, fingerprint }: Successor,
  restock: boolean | undefined,
): void {
  delete refund.replaceWith;
  refund.restock = restock;
  refund.replacedBy = { traderInvoiceNumber, fingerprint };
}

/** Nothing of this run has returned the goods, so an operator decides whether the corrected sale takes its own. */
async function replaceAllTheSame(context: SaleContext, successor: Successor): Promise<void> {
  const { run } = context;
  const { traderInvoiceNumber: number } = successor;
  const message = `The sale ${run.invoice} was credited by another credit note than ${run.refund?.traderInvoiceNumber ?? ""}. Look at the stock: its goods may not have gone back. A retry issues the corrected sale ${number}, which takes its own; to acknowledge ends the correction without it.`;
  const verdict = await park(run, { code: "correction-incomplete", subject: number, message });
  if (verdict === "retry") await issueReplacement(context, successor, Promise.resolve());
  else await giveUpReplacement(context, successor, "credited");
}

/** Nobody waits who could be told. */
async function showRefused(run: SaleState, refusal: string, isCorrection: boolean): Promise<void> {
  const then = isCorrection ? "ask for the correction again" : "refund the sale under another number";
  const message = `The credit note was refused, and nothing was issued: ${refusal} Acknowledge this, then ${then}.`;
  const subject = run.refund?.traderInvoiceNumber;
  await park(run, { code: "unexpected-answer", subject, message, resolvedBy: ["acknowledge"] });
}
