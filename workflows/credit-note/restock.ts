import type { Branch, ItemsResult, PreparedCreditNote, ResolvedLine, SaleDocument } from "../../src/contract/index.ts";
import { resolveBranch } from "../sale/branch.ts";
import type { Work } from "../document/work.ts";
import { answered } from "../run/answered.ts";
import { park } from "../run/park.ts";
import { planMovements } from "../stock/plan-movements.ts";
import { StockKeeping } from "../stock/stock-keeping.ts";

type Unknown = Extract<ItemsResult, { kind: "unknown" }>["unknown"];

/**
 * Gives the goods of the sale back to stock, for a sale whose own run does not do it: one that closed, or was issued elsewhere. What
 * has left the catalogue waits for a person, and holds nothing else back.
 */
export async function restock(work: Work, { note }: PreparedCreditNote, original: SaleDocument): Promise<void> {
  const { run } = work;
  const branch: Branch | undefined = await resolveBranch(work, note.branch);
  const stock = new StockKeeping(work, branch);
  let left: ResolvedLine[] = original.lines.map(({ itemId, quantity, unitPrice }) => ({ itemId, quantity, unitPrice }));
  while (left.length > 0) {
    const unknown = await unknownOf(work, left);
    const known = left.filter((_, line) => !unknown.some((one) => one.line === line));
    const read = await answered(run, () => work.calls.read.readItems({ ...work.target, lines: known }));
    if (read.kind === "resolved") stock.move(planMovements(note.traderInvoiceNumber, "restocked", known, read.items));
    left = left.filter((line) => !known.includes(line));
    if (left.length === 0) break;
    const message = `Not restocked: ${unknown.map(({ reason }) => reason).join("; ")}`;
    const verdict = await park(run, { code: "stock-refused", subject: note.saleId, message });
    if (verdict === "acknowledged") break;
  }
  await stock.settled();
}

async function unknownOf({ run, calls, target }: Work, lines: ResolvedLine[]): Promise<Unknown> {
  const read = await answered(run, () => calls.read.readItems({ ...target, lines }));
  return read.kind === "unknown" ? read.unknown : [];
}
