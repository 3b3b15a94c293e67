import { condition } from "@temporalio/workflow";

import { areSettled, nairobiTime, type Refund } from "../../../src/contract/index.ts";
import { park } from "../../operator/attention-list.ts";
import { everyUpdateIsAnswered } from "../../sdk/interceptors.ts";
import { returnGoods } from "../../stock/return-goods.ts";
import type { StockKeeping } from "../../stock/stock-keeping.ts";
import { withReturnDate } from "../messages.ts";
import type { SaleContext, SaleState } from "../state.ts";
import { creditSale } from "./credit-note.ts";

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
 * True once the credit note is signed. One that was given up leaves the sale as it was, and so does one whose number is
 * another sale's: the callers who wait for the refund get that answer, else an operator is needed.
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
  run.moveTo("crediting", `the credit note ${refund.traderInvoiceNumber}`);
  const end = await creditSale(context, sale, withReturnDate(refund), callback);
  switch (end.kind) {
    case "signed":
      run.moveTo("credited", refund.restock ? "the goods' return to stock" : "its end");
      if (refund.restock) await returnGoods(context, stock, refund, sale);
      return true;
    case "credited-elsewhere":
      run.moveTo("credited", "its end");
      return true;
    case "given-up":
      run.moveTo("completed", "a refund: the credit note was given up");
      return false;
    case "refused":
      if (run.refundCallers > 0) run.refundRefused = { refund, message: end.message };
      else await showRefused(run, end.message);
      run.moveTo("completed", `a refund under another number than ${refund.traderInvoiceNumber}`);
      return false;
  }
}

/** Nobody waits who could be told. */
async function showRefused(run: SaleState, refusal: string): Promise<void> {
  const message = `The credit note was refused, and nothing was issued: ${refusal} Acknowledge this, then refund the sale under another number.`;
  const subject = run.refund?.traderInvoiceNumber;
  await park(run, { code: "unexpected-answer", subject, message, resolvedBy: ["acknowledge"] });
}
