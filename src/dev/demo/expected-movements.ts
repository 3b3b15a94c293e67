import { stockReferenceId, sumOf } from "../../contract/index.ts";
import { type DemoPlan, type Example, itemOfLine } from "./demo-plan.ts";

/**
 * A stock movement that the books must show, worked out from the example and the catalogue alone: never from what the
 * worker says.
 */
export interface ExpectedMovement {
  readonly referenceId: string;
  readonly itemId: string;
  readonly action: "ADD" | "DEDUCT";
  readonly quantity: number;
}

/** One movement for each stock-tracked item that the sale takes, and one back where the refund restocks. */
export function expectedMovements(plan: DemoPlan, example: Example): ExpectedMovement[] {
  const { input, invoice, refund } = example;
  // An adopted sale has moved its stock where it was issued, unless it says otherwise.
  if ((input.stock ?? (input.saleId === undefined ? undefined : "off")) === "off") return [];
  const quantities = new Map<string, number[]>();
  for (const line of input.lines ?? []) {
    const item = itemOfLine(plan, line);
    if (item?.stockTracked) quantities.set(item.id, [...(quantities.get(item.id) ?? []), line.quantity]);
  }
  return [...quantities].flatMap(([itemId, each]) => {
    const quantity = sumOf(each);
    const sold: ExpectedMovement = {
      referenceId: stockReferenceId(invoice, itemId, "sold"),
      itemId,
      action: "DEDUCT",
      quantity,
    };
    if (!refund?.restock) return [sold];
    const restocked = stockReferenceId(refund.traderInvoiceNumber, itemId, "restocked");
    return [sold, { referenceId: restocked, itemId, action: "ADD", quantity }];
  });
}
