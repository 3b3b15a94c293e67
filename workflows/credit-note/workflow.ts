import { getExternalWorkflowHandle, workflowInfo } from "@temporalio/workflow";

import {
  type AttentionCode,
  creditNoteClaim,
  type CreditNoteInput,
  OWN_NUMBER,
  type PreparedCreditNote,
  type SaleDocument,
  type SaleOutcome,
} from "../../src/contract/index.ts";
import { unlessGivenUp } from "../document/create-document.ts";
import { awaitFinalStatus } from "../document/await-authority.ts";
import { readOther } from "../document/known-document.ts";
import { resubmitCancelled } from "../document/rejected-document.ts";
import { main } from "../proxies.ts";
import { NoteKeeping } from "../operator/note-keeping.ts";
import { creditNoteChanged, registerMessages } from "../sale/messages.ts";
import { contextOf, type SaleContext, SaleState } from "../sale/state.ts";
import { runToCompletion } from "../sale/view.ts";
import { invalidInput } from "../sdk/interceptors.ts";
import { returnGoods } from "../stock/return-goods.ts";
import { StockKeeping } from "../stock/stock-keeping.ts";
import { CreditedElsewhere, issueCreditNote } from "./issue.ts";

/**
 * One credit note, which reverses a sale in full: submit → await the authority → credited → give the goods back, where
 * asked to. Started by its sale within the refund window, or directly after it.
 */
export async function creditNote(input: CreditNoteInput): Promise<SaleOutcome> {
  const run = new SaleState("creditNote", String(input?.traderInvoiceNumber), "submitting");
  run.reversedSaleId = String(input?.saleId);
  registerMessages(run);
  if (typeof input?.saleWorkflowId === "string") tellSale(run, input.saleWorkflowId);
  return await runToCompletion(run, async () => {
    const startedAtMs = workflowInfo().startTime.getTime();
    const asked = { input, startedAtMs, reset: run.carriesOn };
    const prepared = await main.prepareCreditNote("Check the refund", asked);
    // A restart may know more than the ledger does.
    run.earlierRunSent ||= prepared.earlier?.sent === true;
    run.takeOverDecisions(prepared.earlier?.decisions ?? []);
    run.businessId = prepared.profile.businessId;
    const { reason, traderInvoiceNumber, returnDate, restock, branch } = prepared.note;
    run.refund = { reason, traderInvoiceNumber, returnDate, restock, branch };
    run.prepared = true;
    const context = contextOf(run, prepared.profile);
    run.notes = new NoteKeeping(context);
    if (prepared.earlier) run.notes.noteAnew();
    await runCreditNote(context, prepared);
  });
}

async function runCreditNote(context: SaleContext, prepared: PreparedCreditNote): Promise<void> {
  const { run } = context;
  const { traderInvoiceNumber, restock, saleId } = prepared.note;
  try {
    const isSigned = await unlessGivenUp(run, creditNoteClaim(run.workflowId, traderInvoiceNumber), async () => {
      const original = prepared.note.original ?? (await readOther(context, saleId));
      if (original.traderInvoiceNumber === run.invoice) throw invalidInput("credit note input", [OWN_NUMBER]);
      await issueUntilSigned(context, prepared, original);
      run.moveTo("credited", restock ? "the goods' return to stock" : "nothing");
      if (restock) {
        await returnGoods(context, new StockKeeping(context), prepared.note, original);
        run.moveTo("credited", "nothing");
      }
      return true;
    });
    if (!isSigned) run.moveTo("cancelled", "nothing");
  } catch (error) {
    if (!(error instanceof CreditedElsewhere)) throw error;
    run.moveTo("credited", "nothing");
  }
  await run.noAttentionOpen();
}

/** Ends when the credit note is signed. */
async function issueUntilSigned(
  context: SaleContext,
  prepared: PreparedCreditNote,
  original: SaleDocument,
): Promise<void> {
  const { run } = context;
  const callbacksSeen = run.callbacksReceived;
  const created = await issueCreditNote(context, prepared, original);
  const awaited = { ...created, callbacksSeen, fixItems: () => Promise.resolve(false) };
  let { document } = created;
  while ((await awaitFinalStatus(context, document, awaited)) !== "completed")
    document = await resubmitCancelled(context, run.document ?? document, awaited);
}

/**
 * Tells the sale whenever this credit note begins or ceases to need an operator, so that whoever waits for the sale's
 * outcome hears of it. The sale may have closed meanwhile: that does no harm.
 */
function tellSale(run: SaleState, saleWorkflowId: string): void {
  let lastSignalled: AttentionCode | undefined;
  run.onPublish.push(() => {
    const attention = run.attentions[0]?.code;
    if (attention === lastSignalled) return;
    lastSignalled = attention;
    getExternalWorkflowHandle(saleWorkflowId)
      .signal(creditNoteChanged, { attention })
      .catch(() => undefined);
  });
}
