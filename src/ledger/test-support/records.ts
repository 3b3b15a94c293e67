import { randomUUID } from "node:crypto";

import type {
  AttentionChange,
  Decision,
  DocumentRecord,
  SaleDocument,
  SaleDocumentLine,
  StockMovement,
} from "../../contract/index.ts";
import type { Business, Ledger, Writer } from "../index.ts";
import { bookMovement } from "./movements.ts";

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

/** A signed sale with its movement, as its row has it, and when it was answered. */
export interface TestRecord extends DocumentRecord {
  movements: StockMovement[];
  asOfMs: number;
  attentionChanges: AttentionChange[];
  decisions: Decision[];
}

export function recordOf(number: string, more: Partial<TestRecord> = {}): TestRecord {
  const asOfMs = more.asOfMs ?? 1_763_600_000_000;
  return {
    type: "sale",
    number,
    asOfMs,
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
      },
    ],
    attentions: [],
    attentionChanges: [],
    decisions: [],
    ...more,
  };
}

/** Which run opens a row, and when it asked for it. */
export function by(writer: Writer, askedAtMs = 1_763_600_000_000): { writer: Writer; askedAtMs: number } {
  return { writer, askedAtMs };
}

/** Brings a document to what the record says, as its run and its activities do. */
export async function keepRecord(
  { documents, stock }: Pick<Ledger, "documents" | "stock">,
  business: Business,
  record: TestRecord,
  writer: Writer = WRITER,
): Promise<void> {
  const { document, movements, asOfMs, attentions, attentionChanges, decisions, numberTaken, closed, ...opened } =
    record;
  const { type, number, originalSaleId, stage, failed, refund, movementsPlanned } = record;
  const row = { type, number, originalSaleId };
  await documents.open(business, opened, { writer, askedAtMs: opened.startedAtMs });
  if (document)
    await documents.answered(business, { ...row, movementsPlanned }, { document, askedAtMs: asOfMs }, writer);
  for (const movement of movements) await bookMovement(stock, business, { type, number }, movement);
  const told = { asOfMs, sequence: 1, stage, failed, numberTaken, refund, attentions, attentionChanges, decisions };
  await documents.note(business, { ...row, ...told }, writer);
  if (closed) await documents.markClosed(business, row, writer, closed);
}
