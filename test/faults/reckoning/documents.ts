import type { SaleDocument } from "../../../src/contract/index.ts";
import type { DocumentBooks } from "../../../src/dev/simulator/index.ts";
import { type Evidence, outcomeOf } from "./evidence.ts";
import { expectedOf } from "./expected.ts";
import { repeated } from "./repeated.ts";

/** Invariant 1: one document for each business, number and type. */
export function documentsTwice({ books }: Evidence): string[] {
  return repeated(books.documents, ({ businessId, traderInvoiceNumber, type }) =>
    [businessId, traderInvoiceNumber, type].join(" "),
  ).map(({ key, entries }) => `${key}: ${entries.map(({ id, status }) => `${id} ${status}`).join(", ")}`);
}

/** Invariant 3: a sale has at most one credit note. */
export function creditNotesTwice({ books }: Evidence): string[] {
  const notes = books.documents.filter(({ type }) => type === "credit_note");
  return repeated(notes, ({ originalSaleId }) => String(originalSaleId)).map(
    ({ key, entries }) =>
      `${key} is reversed by ${entries.map(({ traderInvoiceNumber }) => traderInvoiceNumber).join(", ")}`,
  );
}

/** What was sent twice under one key was the same. */
export function keysWithTwoBodies({ books }: Evidence): string[] {
  return books.keyReusedWithOtherBody.map(({ operation, idempotencyKey }) => `${operation} ${idempotencyKey}`);
}

/** Every sale is in the books as its workflow says: document, receipt, total at 0.01, credit note. */
export function resultsThatDiffer(evidence: Evidence): string[] {
  const { storm, books, chronicles } = evidence;
  const byId = new Map(chronicles.map((chronicle) => [chronicle.workflowId, chronicle]));
  return [...storm.sales].flatMap(([workflowId, sale]) => {
    const outcome = outcomeOf(byId.get(workflowId));
    if (!outcome) return [];
    const mine = (type: string, number: string): DocumentBooks | undefined =>
      books.documents.find(
        (document) =>
          document.type === type && document.businessId === sale.businessId && document.traderInvoiceNumber === number,
      );
    const document = mine("sale", sale.number);
    const found = documentDifferences(outcome.sale, document);
    if (document?.status === "completed" && !sameMoney(document.totals.total, sale.total))
      found.push(`its total is ${document.totals.total}, asked for were ${sale.total}`);
    if (outcome.stage !== "cancelled" && outcome.receipt?.cuInvoiceNo !== document?.receipt?.cuInvoiceNo)
      found.push(`its receipt is ${outcome.receipt?.cuInvoiceNo}, in the books ${document?.receipt?.cuInvoiceNo}`);
    const { refunded } = expectedOf(evidence, workflowId, sale);
    const note = sale.refund && mine("credit_note", sale.refund.request.traderInvoiceNumber);
    if (refunded !== (note?.status === "completed"))
      found.push(`its credit note is ${note?.status ?? "missing"}, and it was ${refunded ? "" : "not "}to be credited`);
    else if (refunded) found.push(...documentDifferences(outcome.creditNote ?? null, note));
    const pressed = [...(storm.buttons?.touched.get(workflowId) ?? [])].join(", ");
    return found.map((difference) => `${sale.number} (${sale.shape}; pressed: ${pressed || "nothing"}): ${difference}`);
  });
}

function documentDifferences(reported: SaleDocument | null, kept: DocumentBooks | undefined): string[] {
  if (!reported && !kept) return [];
  if (!reported || !kept) return [`its document is ${reported?.id ?? "none"}, in the books ${kept?.id ?? "none"}`];
  const differences: string[] = [];
  if (reported.id !== kept.id) differences.push(`its document is ${reported.id}, in the books ${kept.id}`);
  if (reported.status !== kept.status)
    differences.push(`its document is ${reported.status}, in the books ${kept.status}`);
  if (!sameMoney(reported.totals.total, kept.totals.total))
    differences.push(`its total is ${reported.totals.total}, in the books ${kept.totals.total}`);
  return differences;
}

function sameMoney(one: number, other: number): boolean {
  return Math.abs(one - other) < 0.01;
}
