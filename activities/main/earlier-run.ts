import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import {
  areSettled,
  asAnswered,
  type AttentionCode,
  bounded,
  creditNoteClaim,
  type EarlierRun,
  type ExpectedDocument,
  FAILURES,
  type FinishedSale,
  INSTEAD_OF_OTHER_CONTENT,
  mismatches,
  type PreparedCreditNote,
  type Refund,
} from "../../src/contract/index.ts";
import type { KeptRecord, KeptSale, Ledger } from "../../src/ledger/index.ts";
import { isSent } from "../ledger/beside-calls.ts";

/**
 * A run that was terminated may have left a document behind: the next one takes it over.
 * @param number a credit note's
 */
export async function ownClaim(documents: Pick<Ledger["documents"], "read">, number?: string) {
  const { workflowId = "" } = Context.current().info.workflowExecution ?? {};
  const claim = await documents.read(number === undefined ? workflowId : creditNoteClaim(workflowId, number));
  return { claim, isSent: isSent(claim) };
}

/**
 * Nothing may be cancelled, and no refund forgotten, before this is known: the run is told of its document by nobody
 * else.
 * @param kept what the ledger has of the sale, from another run
 * @param reset the run knows that it carries on another one
 * @returns undefined where the ledger knows of nothing that this run would carry on
 * @throws LedgerUnavailableError: it is asked again, and nothing is sent meanwhile
 */
export async function earlierRun(
  { documents }: Pick<Ledger, "documents">,
  kept: KeptSale | undefined,
  fingerprint: string,
  reset: boolean,
): Promise<EarlierRun | undefined> {
  const record = kept?.record.fingerprint === fingerprint ? kept.record : undefined;
  const { claim, isSent } = await ownClaim(documents);
  if (!reset && !record && !claim) return undefined;
  const earlier = { sent: isSent || Boolean(record?.document), signed: record?.document?.status === "completed" };
  if (!kept || !record) return earlier;
  const decided = record.movements.filter(({ decision }) => decision !== undefined);
  const { movements, decisions } = bounded({ movements: decided, attentions: [], decisions: kept.decisions });
  const refund = refundUnderWay(kept);
  return {
    ...earlier,
    ...(movements.length > 0 && { movements }),
    ...(decisions.length > 0 && { decisions }),
    ...(refund && { refund }),
  };
}

/** A credit note that was given up is not issued again, nor is one without which an operator has left the sale. */
function refundUnderWay(kept: KeptSale): Refund | undefined {
  const { record, creditNote } = kept;
  if (!creditNote || creditNote.record.stage === "cancelled") return undefined;
  if (!record.refund && isDeclined(kept, creditNote)) return undefined;
  const refund = record.refund ?? creditNote.record.refund;
  return refund?.traderInvoiceNumber === creditNote.record.number ? refund : undefined;
}

/** Its run ended without an outcome, and an operator acknowledged that, or nothing was ever sent of it. */
function isDeclined({ decisions }: KeptSale, { record, writer }: KeptRecord): boolean {
  if (record.document?.status === "completed") return false;
  const isLeft = decisions.some(
    ({ update, subject, atMs }) =>
      update === "acknowledge" && subject === writer.workflowId && atMs >= record.startedAtMs,
  );
  return isLeft || (record.failed !== undefined && !record.document && !record.numberTaken);
}

/** As {@link earlierRun}, of a credit note. */
export async function earlierNote(
  { records, documents }: Pick<Ledger, "records" | "documents">,
  { profile: { connection, businessId }, note }: PreparedCreditNote,
  reset: boolean,
): Promise<Pick<EarlierRun, "sent" | "decisions"> | undefined> {
  const { workflowId = "" } = Context.current().info.workflowExecution ?? {};
  const of = { type: "credit_note" as const, number: note.traderInvoiceNumber };
  const decided = await records.decisionsOf({ connection, businessId }, of, workflowId);
  const { decisions } = bounded({ movements: [], attentions: [], decisions: decided });
  const { claim, isSent } = await ownClaim(documents, note.traderInvoiceNumber);
  if (!reset && !claim && decisions.length === 0) return undefined;
  return { sent: isSent, ...(decisions.length > 0 && { decisions }) };
}

/**
 * If it is not, the earlier run was terminated on its way, and this one takes over by the claims. What its answers say
 * counts here, not what that run has come to tell: it may have been terminated between the two.
 */
export function isFinished(kept: Pick<KeptSale, "record" | "decisions">): boolean {
  const { stage, attentions } = kept.record;
  if (attentions.length > 0) return false;
  if (stage === "cancelled")
    return kept.record.movements.every(({ state }) => state !== "unknown" && state !== "sending");
  return (stage === "completed" || stage === "credited") && isStockDone(kept) && isAsAsked(kept);
}

type Looked = Pick<KeptSale, "record" | "decisions">;

function isLookedAt({ decisions }: Looked, code: AttentionCode, about?: string): boolean {
  return decisions.some(
    (one) => one.update === "acknowledge" && one.code === code && (about === undefined || one.subject === about),
  );
}

/** Every movement that the sale was to make is made, or given up; a person has seen what is wrong with one. */
function isStockDone(kept: Looked): boolean {
  const { movements, movementsPlanned = 0 } = kept.record;
  const sold = movements.filter(({ purpose }) => purpose === "sold");
  // One that was given up before it was ever taken has no row.
  const rows = new Set(movements.map(({ referenceId }) => referenceId));
  const givenUp = kept.decisions.filter(
    ({ update, code, subject }) =>
      update === "acknowledge" && code === "stock-refused" && subject !== undefined && !rows.has(subject),
  );
  return (
    areSettled(movements) &&
    sold.length + givenUp.length >= movementsPlanned &&
    movements.every(({ report, referenceId }) => !report || isLookedAt(kept, "stock-unreported", referenceId)) &&
    movements.every(({ purpose, undoes }) => purpose !== "undone" || isLookedAt(kept, "stock-refused", undoes))
  );
}

/** The document is what was asked for, or a person has seen that it is not. */
function isAsAsked(kept: Looked): boolean {
  const { document, content, expectedTotal: total } = kept.record;
  if (!document || isLookedAt(kept, "mismatch")) return true;
  const { traderInvoiceNumber, customer, lines = [], saleId } = content ?? {};
  const expected: ExpectedDocument = {
    type: "sale",
    ...(traderInvoiceNumber !== undefined && { traderInvoiceNumber }),
    // Of a sale that was issued elsewhere nobody was asked for.
    ...(content && saleId === null && { customerPin: customer?.pin ?? null }),
    // The items are compared by whoever has the catalogue.
    ...(lines.length > 0 && {
      lines: lines.map((line, at) => ({ ...line, itemId: document.lines[at]?.itemId ?? "" })),
    }),
    ...(total !== undefined && { total }),
  };
  return mismatches(document, expected).length === 0;
}

export function finishedOf({ record, creditNote }: KeptSale): FinishedSale {
  const { stage, refund } = record;
  const { movements, inAll } = bounded({ movements: record.movements, attentions: [], decisions: [] });
  const finished = { stage, document: asAnswered(record.document), movements, ...(inAll && { inAll }) };
  const note = creditNote?.record.document;
  if (note?.status !== "completed") return { ...finished, creditNote: null, refund };
  const goodsNotReturned = isReturnMissing(record, creditNote?.record) && ({ goodsNotReturned: true } as const);
  return {
    ...finished,
    // Refunded after its workflow had closed, it is kept as completed.
    stage: stage === "completed" ? "credited" : stage,
    creditNote: asAnswered(note),
    refund: refund ?? creditNote?.record.refund,
    ...goodsNotReturned,
  };
}

/**
 * Whether nothing shows that the goods were returned: a run that was terminated after the credit note was signed may
 * not have come to that. Only a movement is proof, so an operator may be asked in vain where nothing was to be
 * returned.
 */
function isReturnMissing({ refund, movements }: KeptSale["record"], note: KeptSale["record"] | undefined): boolean {
  // Goods come back for this refund alone, and not for somebody else's credit note.
  if (!refund?.restock || note?.number !== refund.traderInvoiceNumber) return false;
  const all = [...movements, ...note.movements];
  const [undone, restocked] = (["undone", "restocked"] as const).map((purpose) =>
    all.filter((one) => one.purpose === purpose),
  );
  const taken = movements.filter(
    ({ purpose, state, referenceId }) =>
      purpose === "sold" && state === "applied" && !undone?.some(({ undoes }) => undoes === referenceId),
  );
  if (taken.length === 0) return restocked?.length === 0;
  return taken.some(({ referenceId }) => !restocked?.some(({ undoes }) => undoes === referenceId));
}

export function conflict(number: string, words: readonly string[], { record, writer }: KeptSale): ApplicationFailure {
  const was = record.document
    ? `the document ${record.document.id} is ${record.document.status}`
    : `stage ${record.stage}`;
  return ApplicationFailure.nonRetryable(
    `The number ${number} belongs to another sale. What differs: ${words.join("; ")}. In the ledger: ${was}, kept by ${writer.workflowId}, run ${writer.runId}. Nothing was sent. ${INSTEAD_OF_OTHER_CONTENT}`,
    FAILURES.conflict,
  );
}
