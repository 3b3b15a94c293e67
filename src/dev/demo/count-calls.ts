import type { Books } from "../simulator/index.ts";
import { type DemoPlan, type Example, itemOfLine } from "./demo-plan.ts";
import { expectedMovements } from "./expected-movements.ts";

type Call = Books["callLog"][number];

export interface CallCounts {
  /** The calls that were made for one sale, its credit note and its stock included; by invoice. */
  readonly byInvoice: ReadonlyMap<string, number>;
  /** Readings of the catalogue, which all sales share. */
  readonly catalogueReads: number;
  /** Calls that belong to no sale. */
  readonly others: readonly string[];
}

/** To whom each call of the simulator's log belongs. */
export function countCalls(plan: DemoPlan, calls: readonly Call[]): CallCounts {
  const byInvoice = new Map(plan.examples.map(({ invoice }) => [invoice, 0]));
  const owners = ownersOf(plan);
  const others: string[] = [];
  let catalogueReads = 0;
  for (const call of calls) {
    const invoice = owners(call);
    if (invoice !== undefined) byInvoice.set(invoice, (byInvoice.get(invoice) ?? 0) + 1);
    else if (call.operation === "listItems") catalogueReads += 1;
    // Branches are looked up once for all sales, where the dialect names them by the authority's id.
    else if (call.operation !== "listBusinesses") others.push(`${call.method} ${call.path}`);
  }
  return { byInvoice, catalogueReads, others };
}

function ownersOf(plan: DemoPlan): (call: Call) => string | undefined {
  const byNumber = new Map<string, string>();
  const byReference = new Map<string, string>();
  for (const example of plan.examples) {
    byNumber.set(example.invoice, example.invoice);
    if (example.refund) byNumber.set(example.refund.traderInvoiceNumber, example.invoice);
    for (const { referenceId } of expectedMovements(plan, example)) byReference.set(referenceId, example.invoice);
  }
  return (call) => {
    if (call.invoice !== null) return byNumber.get(call.invoice);
    if (call.referenceId !== null) return byReference.get(call.referenceId);
    if (call.itemId !== null) return onlySaleOf(plan, call.itemId)?.invoice;
    return undefined;
  };
}

/** A registration names an item; it belongs to a sale where that sale alone has the item. */
function onlySaleOf(plan: DemoPlan, itemId: string): Example | undefined {
  const [only, ...more] = plan.examples.filter(({ input }) =>
    input.lines?.some((line) => itemOfLine(plan, line)?.id === itemId),
  );
  return more.length === 0 ? only : undefined;
}
