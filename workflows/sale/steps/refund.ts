import { ApplicationFailure, condition } from "@temporalio/workflow";

import {
  areSettled,
  type ConflictDetails,
  type CreateResult,
  type DatedRefund,
  type ExpectedDocument,
  FAILURES,
  goodsOf,
  keptRefund,
  nairobiTime,
  type Refund,
  replacementOf,
  type SaleDocument,
} from "../../../src/contract/index.ts";
import { awaitFinalStatus, unlessGivenUp } from "../../document/await-authority.ts";
import { callWithEscalation, endsOnceServed, isRefusal } from "../../calls/between-tries.ts";
import { answered, type Created, createDocument } from "../../document/create-document.ts";
import { resubmitCancelled } from "../../document/rejected-document.ts";
import { park } from "../../operator/attention-list.ts";
import { main } from "../../proxies.ts";
import { countDocument, everyUpdateIsAnswered } from "../../sdk/interceptors.ts";
import { returnGoods, type StockKeeping } from "../../stock/stock-keeping.ts";
import { withReturnDate } from "../messages.ts";
import { contextOf, isReset, type SaleContext, type SaleState } from "../state.ts";
import { NoteKeeping } from "../view.ts";
import { giveUpReplacement, issueReplacement, prepareReplacement, type Successor } from "./replacement.ts";

/**
 * Keeps a completed sale open until its window has closed, its stock is settled, no operator is needed, and every
 * caller is answered. A refund that was asked for by then is carried out: nothing that was accepted is lost.
 */
export async function stayOpenForRefund(context: SaleContext, stock: StockKeeping, windowMs: number): Promise<void> {
  const { run } = context;
  const closesAtMs = Date.now() + windowMs;
  const refundDue = (): boolean => run.stage === "completed" && run.refund !== undefined;
  const settled = (): boolean => areSettled(run.movements) && !run.parked;
  const nothingLeft = (): boolean => settled() && run.finished && everyUpdateIsAnswered();
  for (;;) {
    const leftMs = run.stage === "completed" && !run.refundWindowClosed ? closesAtMs - Date.now() : 0;
    if (run.refund && refundDue()) {
      if (!(await runRefund(context, stock, run.refund))) {
        run.refund = undefined;
        run.creditNoteCancelRequested = undefined;
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
 * True once the credit note is signed, and with it whatever is to follow the sale; or if another refund is to be
 * carried out, for which it was sent. False leaves the sale as it was: the callers who wait for the refund are told
 * why, else an operator.
 */
async function runRefund(context: SaleContext, stock: StockKeeping, refund: Refund): Promise<boolean> {
  const { run } = context;
  const sale = run.document;
  if (!sale) throw new Error("a completed sale has its document");
  const successor = beginCorrection(run, refund);
  run.moveTo("crediting", `the credit note ${refund.traderInvoiceNumber}`);
  // The corrected sale takes its own.
  const restock = refund.restock ?? (successor && run.tookStock);
  const asked = keptRefund({ ...withReturnDate(refund), restock }, run.businessId);
  const end = await creditSale(context, sale, asked, async (ofNote) => {
    if (!successor) return;
    await prepareReplacement(ofNote, run.invoice, refund);
    // From here on the row of the corrected sale has what was asked for. Its callers compare by this very object.
    const { traderInvoiceNumber, fingerprint } = successor;
    delete refund.replaceWith;
    refund.restock = restock;
    refund.replacedBy = { traderInvoiceNumber, fingerprint };
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
      run.creditNoteCancelRequested = undefined;
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

function beginCorrection(run: SaleState, refund: Refund): Successor | undefined {
  const replacement = replacementOf(refund, run.businessId);
  run.correction = undefined;
  if (!replacement) return undefined;
  const { traderInvoiceNumber: correctedBy } = replacement;
  run.correction = { correctedBy, creditNote: refund.traderInvoiceNumber, stage: "preparing" };
  return { ...replacement, sale: refund.replaceWith };
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

/** What became of a credit note. `refused`: its number is that of another sale's, or its sale cannot be replaced. */
type CreditNoteEnd =
  | { kind: "signed" }
  | { kind: "credited-elsewhere" }
  | { kind: "given-up" }
  | { kind: "sent-for-another"; refund: Refund }
  | { kind: "refused"; message: string; fields: string[] };

/** Somebody else's credit note reverses the sale: there will be no document of ours. */
class CreditedElsewhere extends Error {
  override readonly name = "CreditedElsewhere";
}

/**
 * Open its row → submit → await the authority. What the runs before did, the row and the claim know.
 * @param prepare what has to succeed before anything is sent
 */
async function creditSale(
  { run, profile, target, callback }: SaleContext,
  sale: SaleDocument,
  refund: DatedRefund,
  prepare: (context: SaleContext) => Promise<void>,
): Promise<CreditNoteEnd> {
  const { traderInvoiceNumber: number } = refund;
  const note = run.beginCreditNote(number);
  const context = contextOf(note, profile, callback);
  const { id: saleId, saleDate } = sale;
  const asked = { ...target, saleId, saleDate, refund, reset: isReset() };
  const opened = await main.openCreditNote("Open the credit note's row", asked);
  if (opened.givenUp) {
    note.moveTo("cancelled", "nothing: it was given up before the reset");
    return { kind: "given-up" };
  }
  if (opened.otherRefund) {
    // Nothing is noted: the credit note stands as it is.
    note.moveTo("cancelled", "nothing: it was sent for another refund");
    return { kind: "sent-for-another", refund: opened.otherRefund };
  }
  note.earlierRunSent = opened.sent;
  note.takeOverDecisions(opened.decisions ?? []);
  note.refund = refund;
  note.notes = new NoteKeeping(context);
  if (opened.otherRun) note.notes.noteAnew();
  note.cancelRequested ??= opened.cancelRequested;
  const cancelled = run.creditNoteCancelRequested;
  if (cancelled) note.requestCancel(cancelled.reason, cancelled.by);
  try {
    const isSigned = await unlessGivenUp(context, async () => {
      await prepare(context);
      const { callbacksReceived: callbacksSeen } = note;
      const created = await issueCreditNote(context, refund, sale);
      const awaited = { ...created, callbacksSeen, fixItems: () => Promise.resolve(false) };
      let { document } = created;
      while ((await awaitFinalStatus(context, document, awaited)) !== "completed")
        document = await resubmitCancelled(context, note.document ?? document, awaited);
      return true;
    });
    note.moveTo(isSigned ? "credited" : "cancelled", "nothing");
    countDocument(note.counted, isSigned ? "signed" : "given-up");
    return { kind: isSigned ? "signed" : "given-up" };
  } catch (error) {
    if (error instanceof CreditedElsewhere) {
      note.moveTo("credited", "nothing");
      return { kind: "credited-elsewhere" };
    }
    if (!(error instanceof ApplicationFailure) || error.type !== FAILURES.conflict) throw error;
    note.moveTo("cancelled", "nothing");
    const [details] = (error.details ?? []) as (ConflictDetails | undefined)[];
    return { kind: "refused", message: error.message, fields: details?.fields ?? [] };
  }
}

/**
 * Fiscal Compliance API, POST /v1/credit-notes.
 * @throws CreditedElsewhere; ApplicationFailure Conflict if the number is another sale's
 */
async function issueCreditNote(
  context: SaleContext,
  { traderInvoiceNumber, returnDate, reason }: DatedRefund,
  original: SaleDocument,
): Promise<Created> {
  const { run, calls, target, callback } = context;
  const { id: saleId } = original;
  const expected: ExpectedDocument = {
    type: "credit_note",
    traderInvoiceNumber,
    originalSaleId: saleId,
    customerPin: original.customer?.pin ?? null,
    lines: goodsOf(original),
  };
  const asked = { ...target, traderInvoiceNumber, returnDate, saleId, reason, callback, workflowId: run.workflowId };
  run.moveTo("submitting", "the answer to the credit note's creation");
  return await createDocument(context, {
    // A credit note that was given up may be followed by one with another number, which is another document.
    step: `credit-note ${traderInvoiceNumber}`,
    content: JSON.stringify({ traderInvoiceNumber, saleId, reason }),
    expected,
    compose: () => main.composeCreditNote("Write the credit note's request", asked),
    send: (request) =>
      calls.keyedWrite.createCreditNote(`Issue the credit note ${traderInvoiceNumber}`, { ...target, ...request }),
    alreadyCredited: (result) => adoptOrEnd(context, result, expected),
  });
}

/** A credit note that may be of another application, which this key cannot read. */
async function readOfAnyone(
  context: SaleContext,
  saleId: string,
  expected: ExpectedDocument,
): Promise<{ document?: SaleDocument; differences?: string[] }> {
  const { run, calls, target } = context;
  const asked = { ...target, saleId, of: run.row, expected, mayBeAnothers: true } as const;
  const read = await callWithEscalation(run, async () => {
    const answer = await calls.read.readDocument(`Read the document ${saleId}`, asked);
    if (!isRefusal(answer) || endsOnceServed(answer)) return answer;
    return { kind: "unreadable" as const, message: answer.message };
  });
  if (read.kind === "unreadable") return { differences: [`it cannot be read: ${read.message}`] };
  answered(context, read.document.id, read);
  return read;
}

/** Ours, if it reverses this sale under our number; else an operator takes note of it. */
async function adoptOrEnd(
  context: SaleContext,
  result: Extract<CreateResult, { kind: "already-credited" }>,
  expected: ExpectedDocument,
): Promise<SaleDocument> {
  const { creditNoteId } = result;
  const read = creditNoteId === undefined ? undefined : await readOfAnyone(context, creditNoteId, expected);
  const { document, differences } = read ?? { differences: ["the answer names no credit note"] };
  if (document && !differences) return document;
  const message = `${result.message} (${differences?.join("; ")})`;
  context.run.moveTo("rejected", "an operator: another credit note reverses this sale");
  await park(context.run, { code: "already-credited", message, evidence: { creditNoteId: creditNoteId ?? null } });
  context.run.document = document ?? null;
  // The row shows somebody else's credit note, as the run does.
  if (document) answered(context, document.id, { unsettled: true });
  throw new CreditedElsewhere();
}
