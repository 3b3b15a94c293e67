import { ApplicationFailure } from "@temporalio/workflow";

import {
  type ConflictDetails,
  type CreateResult,
  type DatedRefund,
  type ExpectedDocument,
  FAILURES,
  goodsOf,
  type Refund,
  type SaleDocument,
} from "../../../src/contract/index.ts";
import { awaitFinalStatus } from "../../document/await-authority.ts";
import { type Created, createDocument, unlessGivenUp } from "../../document/create-document.ts";
import { answered, compareDocument, readOther } from "../../document/known-document.ts";
import { resubmitCancelled } from "../../document/rejected-document.ts";
import { park } from "../../operator/attention-list.ts";
import { NoteKeeping } from "../../operator/note-keeping.ts";
import { main } from "../../proxies.ts";
import { contextOf, isReset, type SaleContext } from "../state.ts";

/** What became of a credit note. `refused`: its number is that of another sale's, or its sale cannot be replaced. */
export type CreditNoteEnd =
  | { kind: "signed" }
  /** Somebody else's credit note reverses the sale, which an operator has seen. */
  | { kind: "credited-elsewhere" }
  | { kind: "given-up" }
  /** An earlier run has sent it for another refund, which is to be carried out. */
  | { kind: "sent-for-another"; refund: Refund }
  | { kind: "refused"; message: string; fields: string[] };

/** Somebody else's credit note reverses the sale: there will be no document of ours. */
class CreditedElsewhere extends Error {
  override readonly name = "CreditedElsewhere";
}

/**
 * The credit note of a sale, which reverses it in full: open its row → submit → await the authority. It knows what this
 * run does by itself, and what the runs before did by its row and its claim.
 * @param prepare what has to succeed before anything is sent
 */
export async function creditSale(
  { run, profile, target }: SaleContext,
  sale: SaleDocument,
  refund: DatedRefund,
  callback: "auto" | "off",
  prepare: (context: SaleContext) => Promise<void>,
): Promise<CreditNoteEnd> {
  const { traderInvoiceNumber: number } = refund;
  const note = run.beginCreditNote(number);
  const context = contextOf(note, profile);
  const { id: saleId, saleDate } = sale;
  const asked = { ...target, saleId, saleDate, refund, reset: isReset() };
  const opened = await main.openCreditNote("Open the credit note's row", asked);
  const wish = run.creditNoteCancelRequested;
  run.creditNoteCancelRequested = undefined;
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
  note.cancelRequested = opened.cancelRequested;
  if (wish !== undefined) note.requestCancel(wish);
  try {
    const isSigned = await unlessGivenUp(context, async () => {
      await prepare(context);
      const original = sale.linesLeftOut && !sale.linesLeftOut.goods ? await readOther(context, saleId) : sale;
      await issueUntilSigned(context, refund, original, callback);
      return true;
    });
    note.moveTo(isSigned ? "credited" : "cancelled", "nothing");
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

/** Ends when the credit note is signed. */
async function issueUntilSigned(
  context: SaleContext,
  refund: DatedRefund,
  original: SaleDocument,
  callback: "auto" | "off",
): Promise<void> {
  const { run } = context;
  const callbacksSeen = run.callbacksReceived;
  const created = await issueCreditNote(context, refund, original, callback);
  const awaited = { ...created, callbacksSeen, fixItems: () => Promise.resolve(false) };
  let { document } = created;
  while ((await awaitFinalStatus(context, document, awaited)) !== "completed")
    document = await resubmitCancelled(context, run.document ?? document, awaited);
}

/**
 * Issues the credit note (Fiscal Compliance API, POST /v1/credit-notes).
 * @throws CreditedElsewhere; ApplicationFailure Conflict where the number is another sale's
 */
async function issueCreditNote(
  context: SaleContext,
  { traderInvoiceNumber, returnDate, reason }: DatedRefund,
  original: SaleDocument,
  callback: "auto" | "off",
): Promise<Created> {
  const { run, calls, target } = context;
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
    isKeyed: true,
    compose: () => main.composeCreditNote("Write the credit note's request", asked),
    send: (request) =>
      calls.keyedWrite.createCreditNote(`Issue the credit note ${traderInvoiceNumber}`, { ...target, ...request }),
    alreadyCredited: (result) => adoptOrEnd(context, result, expected),
  });
}

/** Ours, where it reverses this sale under our number; else an operator takes note of it. */
async function adoptOrEnd(
  context: SaleContext,
  result: Extract<CreateResult, { kind: "already-credited" }>,
  expected: ExpectedDocument,
): Promise<SaleDocument> {
  const { creditNoteId } = result;
  const comparison = { expected, mayBeAnothers: true } as const;
  const read = creditNoteId === undefined ? undefined : await compareDocument(context, creditNoteId, comparison);
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
