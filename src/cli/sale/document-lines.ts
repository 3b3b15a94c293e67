import {
  balanceInWords,
  endedInWords,
  type MovementDecision,
  plainLine,
  type Receipt,
  type SaleDocument,
  type SaleOutcome,
  SETTLED_STAGES,
  type StockMovement,
} from "../../contract/index.ts";

export function documentLine(document: SaleDocument): string {
  const { id, type, status, totals, saleDate, traderInvoiceNumber, linesLeftOut } = document;
  const number = type === "credit_note" ? ` ${traderInvoiceNumber}` : "";
  const date = saleDate ? `, dated ${saleDate}` : "";
  const lines = linesLeftOut ? `, ${linesLeftOut.count} lines (the ledger keeps them)` : "";
  return `${id}${number}, ${status}, ${totalText(totals)}${date}${lines}`;
}

/** Tax-inclusive; negative on a credit note. */
export function totalText({ total, taxAmount }: Pick<SaleDocument["totals"], "total" | "taxAmount">): string {
  return `total ${total.toFixed(2)} (tax ${taxAmount.toFixed(2)})`;
}

/** What is printed on the receipt, and where it can be verified. */
export function receiptLines(receipt: Receipt): string[] {
  const { cuInvoiceNo, receiptNumber, receiptLabel, scuDate, scuTime, verificationUrl } = receipt;
  const label = [receiptLabel, receiptNumber].filter((part) => part !== null && part !== undefined).join(" ");
  const time = [scuDate, scuTime].filter(Boolean).join(" ");
  const line = [cuInvoiceNo, label, time].filter(Boolean).join(", ");
  return [line || "signed, without a number", ...(verificationUrl ? [verificationUrl] : [])].map(plainLine);
}

export function movementLine(movement: StockMovement): string {
  const { referenceId, action, quantity, itemId, state, movementId, report, decision } = movement;
  const reported = [report?.stockIo, report?.stockMaster].filter(Boolean).join("/");
  const notes = [
    movementId && `movement ${movementId}`,
    reported && `reported ${reported}`,
    decision && decisionText(decision, movement),
    decision?.contradicts && balanceInWords(decision.contradicts),
  ].filter(Boolean);
  return `${referenceId}: ${action} ${quantity} of ${itemId}, ${state}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
}

/** A note that says "not applied" does not explain a movement that was applied by the try after it. */
function decisionText({ applied, note, atMs }: MovementDecision, { state, sentAtMs = 0 }: StockMovement): string {
  if (applied) return `decided: ${note}`;
  const sentAgain = sentAtMs > atMs || state === "sending";
  return `${sentAgain ? "sent again after the decision" : "decided"} 'not applied': ${note}`;
}

/** An outcome on one line. */
export function outcomeLine(outcome: SaleOutcome): string {
  const { stage, sale, receipt, creditNote, attention, cancelRequested, closed } = outcome;
  const document = creditNote ?? sale;
  const signed = creditNote ? creditNote.receipt : receipt;
  // Between two automatic resubmissions; once they are used up, an operator is needed.
  const isSubmittedAgain = stage === "rejected" && !attention && cancelRequested === undefined && !closed;
  const parts = [
    closed ? `${stage} when its workflow ${endedInWords(closed)}` : stage,
    ...(document ? [`document ${document.id} ${document.status}`, totalText(document.totals)] : []),
    ...(signed ? [`receipt ${receiptLines(signed)[0] ?? ""}`] : []),
    ...(attention ? [`needs an operator: ${attention.code}`] : []),
    ...(isSubmittedAgain ? ["fiscalflow submits it again by itself"] : []),
  ];
  return parts.join(", ");
}

/** Of a sale that was waited for: its document needs an operator, or nothing comes of it. */
export function isUnsuccessful({ stage, attention, closed }: SaleOutcome): boolean {
  return closed !== undefined || stage === "cancelled" || (attention !== undefined && !SETTLED_STAGES.includes(stage));
}
