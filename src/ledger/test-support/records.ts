import { randomUUID } from "node:crypto";

import type { DocumentRecord, SaleDocument, SaleDocumentLine } from "../../contract/index.ts";

export const WRITER = { workflowId: "sale/default/biz_1/INV-1", runId: "run-1" };

/** A business that no other test has. */
export function someBusiness(): { connection: string; businessId: string } {
  return { connection: "default", businessId: `biz_${randomUUID()}` };
}

const LINE: SaleDocumentLine = {
  id: "line_1",
  itemId: "item_tea",
  name: "Tea",
  description: null,
  quantity: 2,
  unitPrice: 350.1,
  total: 700.2,
  taxableAmount: 603.62,
  taxAmount: 96.58,
  taxRate: 16,
  taxTypeCode: "B",
};

export function documentOf(number: string, more: Partial<SaleDocument> = {}): SaleDocument {
  return {
    id: `sale_${number}`,
    type: "sale",
    status: "completed",
    traderInvoiceNumber: number,
    saleDate: "2026-11-20",
    paymentTypeCode: "01",
    customer: { name: "Wanjiku \u{1F600}", pin: "A000000001B" },
    lines: [LINE, { ...LINE, id: "line_2", quantity: 0.5, unitPrice: 1e-7, total: 5e-8, taxAmount: 0 }],
    totals: { total: 700.2, taxableAmount: 603.62, taxAmount: 96.58 },
    receipt: { cuInvoiceNo: `CU-${number}`, receiptNumber: 1, receiptLabel: "NS" },
    ...more,
  };
}

/** A signed sale with its movement, as a workflow sends it to the ledger. */
export function recordOf(number: string, more: Partial<DocumentRecord> = {}): DocumentRecord {
  const asOfMs = more.asOfMs ?? 1_763_600_000_000;
  return {
    type: "sale",
    number,
    asOfMs,
    sequence: 1,
    stage: "completed",
    startedAtMs: 1_763_600_000_000,
    numberTaken: true,
    date: "2026-11-20",
    document: documentOf(number),
    movements: [
      {
        referenceId: `${number}/item_tea/sold`,
        purpose: "sold",
        action: "DEDUCT",
        itemId: "item_tea",
        quantity: 2.5,
        unitPrice: 350.1,
        state: "applied",
        movementId: "mov_1",
        sentAtMs: 1_763_600_000_123,
        quantityOnHand: 97.5,
        decision: { applied: true, note: "counted", atMs: 1_763_600_000_500 },
      },
    ],
    attentions: [],
    attentionChanges: [],
    decisions: [],
    ...more,
  };
}
