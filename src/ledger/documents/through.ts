import {
  areSettled,
  type AttentionCode,
  type ExpectedDocument,
  isCorrectionLeft,
  mismatches,
  isRefusedStatus,
  type Refund,
  reversalReferenceId,
} from "../../contract/index.ts";
import type { KeptSale } from "./read-sales.ts";

/**
 * Whether nothing is left to be done of a sale, as its row has it: a run that carries it on would find nothing to do,
 * and one that was terminated leaves nothing behind.
 */
export function isThrough(kept: KeptSale): boolean {
  return isFinished(kept) && !isRefundLeft(kept);
}

/**
 * Whether the sale itself is done, its refund aside. A sale that is not was left by a run that was terminated on its
 * way, and the next run takes over by the claims. The answers in the row count, and not what that run has noted: it may
 * have been terminated between an answer and its note.
 */
function isFinished(kept: Pick<KeptSale, "record" | "decisions">): boolean {
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
    // The items were compared by the run, which has the catalogue.
    ...(lines.length > 0 && {
      lines: lines.map((line, at) => ({ ...line, itemId: document.lines[at]?.itemId ?? "" })),
    }),
    ...(total !== undefined && { total }),
  };
  return mismatches(document, expected).length === 0;
}

/** Whether a refund that was accepted is not carried out. */
function isRefundLeft(kept: KeptSale): boolean {
  const isCredited = kept.record.stage === "credited" || kept.creditNote?.record.document?.status === "completed";
  const refund = refundUnderWay(kept);
  if (refund && (!isCredited || isReplacementLeft(refund, kept))) return true;
  return isReturnMissing(kept);
}

/** The sale is credited, and the one that is to replace it is neither signed nor given up by an operator. */
function isReplacementLeft({ replacedBy, traderInvoiceNumber }: Refund, { record: { correction } }: KeptSale): boolean {
  if (!replacedBy) return false;
  const isKnown =
    correction?.creditNote === traderInvoiceNumber && correction.correctedBy === replacedBy.traderInvoiceNumber;
  // Of one that was given up before, and is credited all the same, nobody has told.
  return !isKnown || correction.stage === "cancelled" || isCorrectionLeft(correction);
}

/** Whether nothing shows that the goods of the refund were returned, and nobody has taken note of that. */
function isReturnMissing({ record, creditNote, decisions }: KeptSale): boolean {
  const note = creditNote?.record;
  const refund = record.refund ?? note?.refund;
  // Goods come back for this refund alone, and not for somebody else's credit note.
  if (!refund?.restock || note?.document?.status !== "completed" || note.number !== refund.traderInvoiceNumber)
    return false;
  if (isLookedAt({ record, decisions }, "stock-refused", refund.traderInvoiceNumber)) return false;
  const { movements } = record;
  const [undone, restocked] = (["undone", "restocked"] as const).map((purpose) =>
    movements.filter((one) => one.purpose === purpose),
  );
  const taken = movements.filter(
    ({ purpose, state, referenceId }) =>
      purpose === "sold" && state === "applied" && !undone?.some(({ undoes }) => undoes === referenceId),
  );
  if (taken.length === 0) return restocked?.length === 0;
  const { number: soldAs } = record;
  const { traderInvoiceNumber: number } = refund;
  const isLeft = (reference: string): boolean => isLookedAt({ record, decisions }, "stock-refused", reference);
  // An operator gives one up by its own reference, or all of a branch that is not found by one that was taken from it.
  const isGivenUp = ({ referenceId, itemId, branchId }: (typeof taken)[number]): boolean =>
    isLeft(reversalReferenceId(referenceId, { soldAs, itemId, number, purpose: "restocked" })) ||
    taken.some((other) => other.branchId === branchId && isLeft(other.referenceId));
  return taken.some((one) => !restocked?.some(({ undoes }) => undoes === one.referenceId) && !isGivenUp(one));
}

/**
 * A credit note that was given up is not issued again. The sale knows of its refund; by its credit note alone only one is
 * under way that may still be signed.
 */
export function refundUnderWay({ record, creditNote }: KeptSale): Refund | undefined {
  const note = creditNote?.record;
  const mayBeSigned = note?.numberTaken && !isRefusedStatus(note.document?.status);
  const refund = record.refund ?? (mayBeSigned ? note.refund : undefined);
  const isGivenUp = note?.stage === "cancelled" && note.number === refund?.traderInvoiceNumber;
  return isGivenUp ? undefined : refund;
}
