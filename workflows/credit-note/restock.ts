import type { CreditNoteInput, PreparedCreditNote, SaleDocument } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { answered } from "../run/answered.ts";
import { park } from "../run/park.ts";
import { resolveBranch } from "../sale/branch.ts";
import { planMovements } from "../stock/plan-movements.ts";
import { StockKeeping } from "../stock/stock-keeping.ts";

/**
 * Returns the goods of a sale whose own run does not do it: one that is closed, or that was issued elsewhere. What goes back is what was
 * taken, where it was taken; without that, only what a person decides to return, who names the branch.
 */
export async function restock(work: Work, { note }: PreparedCreditNote, original: SaleDocument): Promise<void> {
  const stock = new StockKeeping(work);
  if (await stock.returnTaken(note.traderInvoiceNumber, original)) return;
  if (note.branch === undefined) await showNothingTaken(work, note.traderInvoiceNumber);
  else await returnByDecision(work, note, note.branch, original);
}

/** A restock that nothing can be returned for is shown, where its request could not be refused at the door. */
export async function showNothingTaken({ run }: Work, number: string): Promise<void> {
  const message =
    "Nothing was restocked: this sale is not known to have taken anything from stock. Correct the stock by hand where goods came back.";
  await park(run, { code: "stock-refused", subject: number, message, mendedBy: ["acknowledge"] });
}

/** A person vouches for the goods. An item that has left the catalogue waits for a person, and holds nothing else back. */
async function returnByDecision(
  work: Work,
  { traderInvoiceNumber: number, reason, saleId }: CreditNoteInput,
  branchName: string,
  original: SaleDocument,
): Promise<void> {
  const { run, calls, target } = work;
  const branch = await resolveBranch(work, branchName);
  const answer = `restock everything to branch ${branchName}`;
  run.decisions.push({ update: "refund", answer, note: `refund ${number}, reason ${reason}`, atMs: Date.now() });
  const stock = new StockKeeping(work, branch);
  let left = original.lines.map(({ itemId, quantity, unitPrice }) => ({ itemId, quantity, unitPrice }));
  while (left.length > 0) {
    const lines = left;
    const read = await answered(run, () => calls.read.readItems({ ...target, lines }));
    if (read.kind === "resolved") {
      stock.move(planMovements(number, "restocked", left, read.items));
      break;
    }
    const missing = new Set(read.unknown.map(({ line }) => line));
    const known = left.filter((_, line) => !missing.has(line));
    const again = known.length > 0 && (await answered(run, () => calls.read.readItems({ ...target, lines: known })));
    if (again && again.kind === "resolved") {
      stock.move(planMovements(number, "restocked", known, again.items));
      left = left.filter((_, line) => missing.has(line));
    }
    const message = `Not restocked: ${read.unknown.map((one) => one.reason).join("; ")}`;
    const verdict = await park(run, { code: "stock-refused", subject: saleId, message });
    if (verdict === "acknowledged") break;
  }
  await stock.settled();
}
