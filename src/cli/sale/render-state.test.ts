import { expect, test } from "vitest";

import { type Attention, type AttentionCode, RESOLVED_BY, type SaleDocument, type Stage } from "../../contract/index.ts";
import type { SaleState } from "../../starter/index.ts";
import { renderState } from "./render-state.ts";

const DOCUMENT: SaleDocument = {
  id: "sale_1",
  type: "sale",
  status: "completed",
  traderInvoiceNumber: "INV-1",
  totals: { total: 700, taxAmount: 96.55 },
} as SaleDocument;

function page(code: AttentionCode, stage: Stage = "completed", more: Partial<Attention> = {}): string {
  const attention = { code, message: "What happened.", sinceMs: 0, resolvedBy: RESOLVED_BY[code], ...more };
  const state: SaleState = {
    source: "workflow",
    workflow: "sale",
    stage,
    waitingFor: "an operator",
    attentions: [attention],
    document: DOCUMENT,
    stockMovements: [],
    decisions: [],
    callbacksReceived: 0,
    numberTaken: true,
    nextWait: 0,
  };
  return renderState("Sale INV-1", "sale/default/biz_2/INV-1", state, { invoice: "INV-1", business: "biz_2" });
}

test("a movement of unknown outcome whose item has no known balance says so once", () => {
  const said = page("stock-unknown", "completed", { subject: "INV-1/item_tea/sold", evidence: {} });
  expect(said.match(/No balance of the item is known/g)).toHaveLength(1);
});
