import { isDeepStrictEqual } from "node:util";

import { stockReferenceId, sumOf, type WorkflowState } from "../../contract/index.ts";
import type { Books, DocumentBooks } from "../simulator/index.ts";
import type { DemoPlan, Example } from "./plan.ts";
import type { SaleProgress } from "./run-sales.ts";

/**
 * Holds what the workflows say, and what the plan wants, against the simulator's own books: every document, receipt and
 * stock movement is there once, and nothing else. Returns each difference in words; none means that they agree.
 */
export function compareWithBooks(plan: DemoPlan, sales: readonly SaleProgress[], books: Books): string[] {
  const invoices = new Set(plan.examples.flatMap(({ invoice, refund }) => [invoice, refund?.traderInvoiceNumber]));
  return [
    ...sales.flatMap((sale) => saleDifferences(sale, books).map((found) => `${sale.example.invoice}: ${found}`)),
    ...books.documents
      .filter(({ traderInvoiceNumber }) => !invoices.has(traderInvoiceNumber))
      .map(({ id, traderInvoiceNumber }) => `a document that nobody asked for: ${traderInvoiceNumber} (${id})`),
    ...movementDifferences(plan, books),
    ...books.keyReusedWithOtherBody.map(
      ({ idempotencyKey }) => `the Idempotency-Key ${idempotencyKey} was used with two bodies`,
    ),
  ];
}

function saleDifferences({ example, stage, problem, state }: SaleProgress, books: Books): string[] {
  const { refund, invoice, expected } = example;
  const of = (type: string, number: string): DocumentBooks[] =>
    books.documents.filter((one) => one.type === type && one.traderInvoiceNumber === number);
  const { document, creditNote } = { ...state };
  return [
    ...(stage === expected.stage ? [] : [`ended ${stage}, expected ${expected.stage}`]),
    ...(problem === undefined ? [] : [problem]),
    ...documentDifferences("sale", of("sale", invoice), document, null),
    ...(refund
      ? documentDifferences("credit note", of("credit_note", refund.traderInvoiceNumber), creditNote, document?.id)
      : []),
  ];
}

/** There is one, and it is as the workflow tells. @param originalSaleId which it reverses */
function documentDifferences(
  noun: string,
  [booked, ...more]: readonly DocumentBooks[],
  told: WorkflowState["document"] | WorkflowState["creditNote"],
  originalSaleId: string | null | undefined,
): string[] {
  if (!booked || more.length > 0)
    return [`the books have ${booked ? more.length + 1 : 0} of its ${noun}, expected one`];
  const { id, status, totals, receipt } = booked;
  const inBooks = { id, status, total: totals.total, receipt, originalSaleId: booked.originalSaleId ?? null };
  const receiptTold = told?.receipt ?? null;
  const meant = { id: told?.id, status: "completed", total: told?.totals.total, receipt: receiptTold, originalSaleId };
  if (isDeepStrictEqual(inBooks, meant)) return [];
  return [`its ${noun} is ${JSON.stringify(inBooks)} in the books, expected ${JSON.stringify(meant)}`];
}

/** Each movement that the examples lead to is in the books once, and nothing else. */
function movementDifferences(plan: DemoPlan, { movements }: Books): string[] {
  const expected = plan.examples.flatMap((example) => expectedMovements(plan, example)).toSorted();
  const booked = movements
    .map(({ referenceId, action, quantity, itemId }) => `${referenceId}: ${action} ${quantity} of ${itemId}`)
    .toSorted();
  const missing = expected.filter((one) => !booked.includes(one)).map((one) => `no stock movement ${one}`);
  const strange = booked
    .filter((one, index) => !expected.includes(one) || booked.indexOf(one) < index)
    .map((one) => `a stock movement that nobody asked for: ${one}`);
  return [...missing, ...strange];
}

/**
 * One movement for each stock-tracked item that the sale takes, and one back where the refund restocks: worked out from
 * the example and the catalogue alone, never from what the worker says.
 */
function expectedMovements(plan: DemoPlan, { input, invoice, refund }: Example): string[] {
  // An adopted sale has moved its stock where it was issued, unless it says otherwise.
  if ((input.stock ?? (input.saleId === undefined ? undefined : "off")) === "off") return [];
  const quantities = new Map<string, number[]>();
  for (const line of input.lines ?? []) {
    const item = plan.scenario.items.find(
      ({ id, sku, externalId }) =>
        id === line.itemId ||
        (line.sku !== undefined && sku === line.sku) ||
        (line.externalId !== undefined && externalId === line.externalId),
    );
    if (item?.stockTracked) quantities.set(item.id, [...(quantities.get(item.id) ?? []), line.quantity]);
  }
  return [...quantities].flatMap(([itemId, each]) => {
    const quantity = sumOf(each);
    const sold = `${stockReferenceId(invoice, itemId, "sold")}: DEDUCT ${quantity} of ${itemId}`;
    if (!refund?.restock) return [sold];
    const restocked = stockReferenceId(refund.traderInvoiceNumber, itemId, "restocked");
    return [sold, `${restocked}: ADD ${quantity} of ${itemId}`];
  });
}
