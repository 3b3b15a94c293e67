import { isDeepStrictEqual } from "node:util";
import type { Books, DocumentBooks } from "../simulator/index.ts";
import type { DemoPlan } from "./demo-plan.ts";
import type { SaleProgress } from "./sale-progress.ts";

/** The sale's document, and its credit note's, against the one that the workflow tells of. */
export function documentDifferences({ example, state }: SaleProgress, books: Books): string[] {
  const { refund, invoice } = example;
  const of = (type: string, number: string): DocumentBooks[] =>
    books.documents.filter((document) => document.type === type && document.traderInvoiceNumber === number);
  const found = oneDocument("sale", of("sale", invoice), state?.document);
  if (!refund) return found;
  const notes = of("credit_note", refund.traderInvoiceNumber);
  const wrongSale = notes.filter(({ originalSaleId }) => originalSaleId !== state?.document?.id);
  return [
    ...found,
    ...oneDocument("credit note", notes, state?.creditNote),
    ...wrongSale.map(({ id }) => `the credit note ${id} reverses another sale`),
  ];
}

type ReportedDocument = Pick<DocumentBooks, "id"> & { receipt?: unknown; totals: { total: number } };

function oneDocument(
  noun: string,
  booked: readonly DocumentBooks[],
  reported: ReportedDocument | null | undefined,
): string[] {
  const [document, ...more] = booked;
  if (document === undefined) return [`the books have no ${noun} with its number`];
  if (more.length > 0) return [`the books have ${booked.length} ${noun}s with its number, expected one`];
  const found: string[] = [];
  if (document.status !== "completed") found.push(`its ${noun} is ${document.status} in the books, expected completed`);
  if (!reported) return [...found, `the workflow tells of no ${noun}`];
  if (reported.id !== document.id)
    found.push(`its ${noun} is ${reported.id} to the workflow, ${document.id} in the books`);
  if (!isDeepStrictEqual(reported.receipt ?? null, document.receipt))
    found.push(`the receipt of its ${noun} is not the one in the books`);
  if (reported.totals.total !== document.totals.total)
    found.push(
      `the total of its ${noun} is ${reported.totals.total} to the workflow, ${document.totals.total} in the books`,
    );
  return found;
}

/** Documents that no example asked for. */
export function strangeDocuments({ examples }: DemoPlan, { documents }: Books): string[] {
  const numbers = new Set(
    examples.flatMap(({ invoice, refund }) => [invoice, ...(refund ? [refund.traderInvoiceNumber] : [])]),
  );
  return documents
    .filter(({ traderInvoiceNumber }) => !numbers.has(traderInvoiceNumber))
    .map(({ id, traderInvoiceNumber }) => `the books have a document nobody asked for: ${traderInvoiceNumber} (${id})`);
}
