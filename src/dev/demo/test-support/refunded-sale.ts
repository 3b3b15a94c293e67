import type { SaleDocument } from "../../../contract/index.ts";
import { type Books, startSimulator } from "../../simulator/index.ts";
import { type DemoPlan, examplesFolder, readDemoPlan } from "../plan.ts";
import type { SaleProgress } from "../run-sales.ts";

/** The refunded example alone, and its calls made by hand: what a run of the demo leaves behind where all goes well. */
export async function refundedSale(): Promise<{ plan: DemoPlan; sales: SaleProgress[]; books: Books }> {
  const all = await readDemoPlan(examplesFolder());
  const example = all.examples.find(({ refund }) => refund !== undefined);
  if (!example?.refund) throw new Error("none of the examples is refunded");
  const { invoice, refund } = example;
  // Accepted at once, so that nobody has to wait.
  const scenario = { ...all.scenario, sales: [], authority: { default: { do: "accept" } as const, documents: {} } };
  const plan: DemoPlan = {
    ...all,
    scenario,
    examples: [{ ...example, expected: { stage: "credited" } }],
  };
  const simulator = await startSimulator({ scenario });
  try {
    const post = async (path: string, body: object): Promise<SaleDocument> => {
      const answer = await fetch(`${simulator.url}${path}?businessId=${plan.business.id}`, {
        method: "POST",
        headers: { "x-api-key": plan.apiKey, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const { data } = (await answer.json()) as { data: { sale: SaleDocument } };
      return data.sale;
    };
    const line = { itemId: "item_gesi", quantity: 1, unitPrice: 1250 };
    const move = (action: string, referenceId: string): Promise<unknown> =>
      post("/v1/stock/adjustments", { ...line, action, referenceId });
    const document = await post("/v1/sales", { traderInvoiceNumber: invoice, lines: [line] });
    await move("DEDUCT", `${invoice}/item_gesi/sold`);
    const { reason, traderInvoiceNumber } = refund;
    const note = { reason, traderInvoiceNumber, saleId: document.id, returnDate: "2026-11-21" };
    const creditNote = await post("/v1/credit-notes", note);
    await move("ADD", `${traderInvoiceNumber}/item_gesi/restocked`);
    const sale: SaleProgress = {
      example: { ...example, expected: { stage: "credited" } },
      workflowId: `sale/default/${plan.business.id}/${invoice}`,
      stage: "credited",
      waitingFor: "nothing",
      startedAtMs: 0,
      endedAtMs: 3_900,
      state: {
        stage: "credited",
        waitingFor: "nothing",
        attentions: [],
        document,
        creditNote,
        stockMovements: [],
        decisions: [],
        callbacksReceived: 0,
        numberTaken: true,
        nextWait: 0,
      },
    };
    return { plan, sales: [sale], books: simulator.books() };
  } finally {
    await simulator.close();
  }
}
