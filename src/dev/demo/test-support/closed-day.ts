import { ITEM_OUTCOMES, type Purchase } from "../../../contract/index.ts";
import { startSimulator } from "../../simulator/index.ts";
import { type LedgerContents, readServiceBooks, type ServiceBooks } from "../back-office/books-and-ledger.ts";
import { readDemoPlan } from "../read-demo-plan.ts";
import { EXAMPLES } from "./refunded-sale.ts";

/** Of the one sale that the scenario has before the demo begins: it was issued in the dashboard. */
export const DAY = "2026-11-20";

const writer = { workflowId: "w", runId: "r" };
const kept = { firstSeenAtMs: 0, changedAtMs: 0, missingSinceMs: null, writer };

/**
 * The second act's calls made by hand, and a ledger that has kept what came of them: what is left behind where all goes
 * well.
 */
export async function closedDay(): Promise<{ books: ServiceBooks; ledger: LedgerContents }> {
  const plan = await readDemoPlan(EXAMPLES, EXAMPLES);
  const simulator = await startSimulator({ scenario: plan.scenario });
  try {
    const business = `?businessId=${plan.businessId}`;
    const post = async (url: string, key: string): Promise<void> => {
      const { ok, status } = await fetch(url, { method: "POST", headers: { "x-api-key": key } });
      if (!ok) throw new Error(`${url}: ${status}`);
    };
    await post(`${simulator.url}/v1/purchases/pull${business}`, plan.apiKey);
    for (const item of ["item_sabuni", "item_sabuni_unga", "item_kahawa"])
      await post(`${simulator.url}/v1/items/${item}/register${business}`, plan.apiKey);
    await post(`${simulator.accounting.url}/sync/batches/batch_2026_11_20/process`, plan.accounting.apiKey);
    const books = readServiceBooks({ plan, simulator });
    return { books, ledger: keptOf(books) };
  } finally {
    await simulator.close();
  }
}

function keptOf({ items, purchases, billPayments, syncBatches }: ServiceBooks): LedgerContents {
  const [registered, , needsData] = ITEM_OUTCOMES;
  const amounts = { count: 1, total: "430.00", taxableAmount: "430", taxAmount: "0" };
  const none = { count: 0, total: "0", taxableAmount: "0", taxAmount: "0" };
  const noMonths = { ...none, months: [] };
  const nobody = { sales: none, creditNotes: none, net: none, taxes: [] };
  const noDays = { ...none, days: [] };
  return {
    report: {
      connection: "default",
      businessId: "biz_demo",
      sales: { ...amounts },
      creditNotes: none,
      net: { ...amounts },
      taxes: [],
      buyers: { withPin: nobody, withoutPin: nobody, malformedPin: nobody },
      oddDates: {
        inFuture: { ...none, sales: none, creditNotes: none },
        datedBeforeSale: none,
        signedInAnotherMonth: { ...noMonths, sales: noMonths, creditNotes: noMonths },
        datedInAnotherMonth: { ...noMonths, sales: noMonths, creditNotes: noMonths },
        signedOnAnotherDay: { ...noDays, sales: noDays, creditNotes: noDays },
        datedOnAnotherDay: { ...noDays, sales: noDays, creditNotes: noDays },
      },
      payments: [],
      course: [],
      notInCourse: { count: 0, total: "0", sales: "0", creditNotes: "0", counts: { sales: 0, creditNotes: 0 } },
      movements: [],
      open: [],
      moreOpen: 0,
      atRisk: "0",
      ended: { documents: [], more: 0, amount: "0" },
    },
    items: items.map(({ id, registrationStatus }) => ({
      kind: registrationStatus === "REGISTERED" ? registered : needsData,
      item: id,
      atMs: 0,
    })),
    purchases: purchases.map(({ businessId: _businessId, stored: _stored, changes: _changes, ...purchase }) => ({
      entry: purchase satisfies Purchase,
      ...kept,
    })),
    billPayments: billPayments.map(({ body, status }) => ({ entry: body, syncStatus: status, ...kept })),
    syncBatches: syncBatches
      .filter(({ processed }) => processed > 0)
      .map(({ id, message }) => ({
        connection: "default",
        syncBatchId: id,
        generation: 1,
        state: "processed",
        message,
        decision: null,
        writer,
      })),
  };
}
