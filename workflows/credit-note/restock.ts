import type { PreparedCreditNote, SaleDocument } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { answered } from "../run/answered.ts";
import { planMovements } from "../stock/plan-movements.ts";
import { StockKeeping } from "../stock/stock-keeping.ts";

/**
 * Gives the goods of the sale back to stock, for a sale whose own run does not do it: one that closed, or was issued elsewhere.
 * An item that has left the catalogue has no stock to return to.
 */
export async function restock(work: Work, { note }: PreparedCreditNote, original: SaleDocument): Promise<void> {
  const { run, calls, target } = work;
  const lines = original.lines.map(({ itemId, quantity, unitPrice }) => ({ itemId, quantity, unitPrice }));
  const read = await answered(run, () => calls.read.readItems({ ...target, lines }));
  if (read.kind !== "resolved") {
    const message = read.unknown.map(({ reason }) => reason).join("; ");
    run.raise({ code: "stock-refused", subject: note.saleId, message: `The goods cannot be restocked: ${message}` });
    return;
  }
  const stock = new StockKeeping(work);
  stock.move(planMovements(note.traderInvoiceNumber, "restocked", lines, read.items));
  await stock.settled();
}
