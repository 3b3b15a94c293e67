import { fewOf, goodsOf, type Refund, type SaleDocument } from "../../src/contract/index.ts";
import { callWithEscalation } from "../calls/between-tries.ts";
import { park } from "../operator/attention-list.ts";
import type { SaleContext } from "../sale/state.ts";
import { branchToReturnTo, planMovements, type StockKeeping } from "./stock-keeping.ts";

/**
 * Returns the goods of a refund. What goes back is what was taken, where it was taken; without that, only what an
 * operator decides to return, who names the branch.
 */
export async function returnGoods(
  context: SaleContext,
  stock: StockKeeping,
  refund: Refund,
  original: SaleDocument,
): Promise<void> {
  if (await stock.returnTaken(refund.traderInvoiceNumber, original)) return;
  if (refund.branch === undefined) await showNothingTaken(context, refund.traderInvoiceNumber);
  else await returnByDecision(context, stock, { ...refund, branch: refund.branch }, original);
}

/** A restock that nothing can be returned for is shown, where its request could not be refused at the door. */
async function showNothingTaken({ run }: SaleContext, number: string): Promise<void> {
  const message =
    "Nothing was restocked: this sale is not known to have taken anything from stock. Correct the stock by hand where goods came back.";
  await park(run, { code: "stock-refused", subject: number, message, resolvedBy: ["acknowledge"] });
}

/**
 * An operator vouches for the goods. An item that has left the catalogue waits for an operator, and holds nothing else
 * back.
 */
async function returnByDecision(
  context: SaleContext,
  stock: StockKeeping,
  { traderInvoiceNumber: number, reason, branch: name }: Refund & { branch: string },
  original: SaleDocument,
): Promise<void> {
  const { run, calls, target } = context;
  const branch = await branchToReturnTo(context, name, number);
  if (!branch) return;
  const answer = `restock everything to branch ${name}`;
  run.decide({ update: "refund", answer, note: `refund ${number}, reason ${reason}` });
  let left = goodsOf(original);
  while (left.length > 0) {
    const lines = left;
    const read = await callWithEscalation(run, () =>
      calls.read.readItems("Find the items to return in the catalogue", { ...target, lines }),
    );
    const unknown = read.kind === "unknown" ? read.unknown : [];
    const missing = new Set(unknown.map(({ line }) => line));
    const known = lines.filter((_, line) => !missing.has(line));
    stock.move(planMovements(number, "restocked", known, read.items), branch);
    left = lines.filter((_, line) => missing.has(line));
    if (left.length === 0) break;
    const message = `Not returned to stock: ${fewOf(unknown.map((one) => one.reason)).join("; ")}`;
    const verdict = await park(run, { code: "stock-refused", subject: number, message });
    if (verdict === "acknowledged") break;
  }
  await stock.settled();
}
