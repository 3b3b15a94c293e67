import {
  type CreateResult,
  creditNoteClaim,
  creditNoteNumberClaim,
  type ExpectedDocument,
  goodsOf,
  mismatches,
  type PreparedCreditNote,
  type SaleDocument,
} from "../../src/contract/index.ts";
import { type Created, createDocument } from "../document/create-document.ts";
import { answered, readDocument } from "../document/known-document.ts";
import { park } from "../operator/attention-list.ts";
import { main } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";

/** Somebody else's credit note reverses the sale, which the run shows: there will be no document of ours. */
export class CreditedElsewhere extends Error {
  override readonly name = "CreditedElsewhere";
}

/**
 * Issues the credit note that reverses the sale in full (Fiscal Compliance API, POST /v1/credit-notes).
 * @throws CreditedElsewhere; ApplicationFailure Conflict where the number is another sale's
 */
export async function issueCreditNote(
  context: SaleContext,
  prepared: PreparedCreditNote,
  original: SaleDocument,
): Promise<Created> {
  const { run, calls, target } = context;
  const { saleId, traderInvoiceNumber, returnDate, reason, callback = "auto" } = prepared.note;
  const expected: ExpectedDocument = {
    type: "credit_note",
    traderInvoiceNumber,
    originalSaleId: saleId,
    customerPin: original.customer?.pin ?? null,
    lines: goodsOf(original),
  };
  const content = { traderInvoiceNumber, returnDate, saleId, reason };
  const asked = { ...target, ...content, callback, workflowId: run.workflowId };
  run.moveTo("submitting", "the answer to the credit note's creation");
  return await createDocument(context, {
    // A credit note that was given up may be followed by one with another number, which is another document.
    step: `credit-note ${traderInvoiceNumber}`,
    claimKey: creditNoteClaim(run.workflowId, traderInvoiceNumber),
    content: JSON.stringify({ traderInvoiceNumber, saleId, reason }),
    numberFor: {
      claim: creditNoteNumberClaim({ ...target, number: traderInvoiceNumber }),
      number: traderInvoiceNumber,
      saleId,
      sale: original.traderInvoiceNumber,
    },
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
  const document = creditNoteId === undefined ? undefined : await readDocument(context, creditNoteId, { expected });
  const found = document ? mismatches(document, expected) : ["the answer names no credit note"];
  if (document && found.length === 0) return document;
  const message = `${result.message} (${found.join("; ")})`;
  context.run.moveTo("rejected", "an operator: another credit note reverses this sale");
  await park(context.run, { code: "already-credited", message, evidence: { creditNoteId: creditNoteId ?? null } });
  context.run.document = document ?? null;
  // The row shows somebody else's credit note, as the run does.
  if (document) answered(context, document.id, { unsettled: true });
  throw new CreditedElsewhere();
}
