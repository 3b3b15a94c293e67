import { START_MS } from "./behind-breaker.ts";
import { composeCreateSale, composeCreditNote } from "../../src/compliance/index.ts";
import {
  type AdjustStockRequest,
  type CreateRequest,
  type CreateResult,
  type CreateSaleRequest,
} from "../../src/contract/index.ts";
import { inActivity, type Served } from "./served.ts";

const TARGET = { connection: "default", businessId: "biz_1" };

/** Two packets of tea out of stock, by the first try. */
export const teaMovement: AdjustStockRequest = {
  ...TARGET,
  referenceId: "INV-1/item_tea/sold",
  itemId: "item_tea",
  action: "DEDUCT",
  quantity: 2,
  unitPrice: 350,
  of: { type: "sale", number: "INV-1", purpose: "sold" },
  claim: { generation: 1, token: "first" },
};

interface SaleChanges {
  itemId?: string;
  branch?: { id: string };
  key?: string;
  /** As the workflow knows it; default: as the connection is configured now. */
  saleKey?: CreateSaleRequest["saleKey"];
}

/** The request for a sale of two packets of tea, under a key of its number. */
export function teaRequest({ runtime }: Served, invoice: string, changes: SaleChanges = {}): CreateSaleRequest {
  const { itemId = "item_tea", branch, key = `sale:${invoice}:0123456789` } = changes;
  const { saleKey = runtime.profile.saleKey } = changes;
  const request = composeCreateSale(runtime.dialect, runtime.profile.keyReach, {
    businessId: "biz_1",
    traderInvoiceNumber: invoice,
    saleDate: "2026-11-21",
    lines: [{ itemId, quantity: 2, unitPrice: 350 }],
    branch,
  });
  const of = { type: "sale" as const, number: invoice };
  const expected = { type: "sale", traderInvoiceNumber: invoice };
  const asked = { ...TARGET, of, expected, request, intent: 1, content: request.bodyJson, sinceMs: START_MS };
  return { ...asked, idempotencyKey: key, saleKey };
}

export function sellTea(served: Served, invoice: string, changes: SaleChanges = {}): Promise<CreateResult> {
  return inActivity(() => served.activities.createSale(teaRequest(served, invoice, changes)));
}

/** The id of a new sale of tea. */
export async function soldTea(served: Served, invoice: string): Promise<string> {
  const result = await sellTea(served, invoice);
  const id = result.kind === "document" || result.kind === "rejected" ? result.document?.id : undefined;
  if (id === undefined) throw new Error(`no document in ${JSON.stringify(result)}`);
  return id;
}

export function creditNoteRequest({ runtime }: Served, saleId: string, number = "CN-1"): CreateRequest {
  const request = composeCreditNote(runtime.dialect, runtime.profile.keyReach, {
    businessId: "biz_1",
    traderInvoiceNumber: number,
    returnDate: "2026-11-21",
    saleId,
    reason: "06",
  });
  const idempotencyKey = `credit-note:${saleId}:${number}`.slice(0, 128);
  const of = { type: "credit_note" as const, number, originalSaleId: saleId };
  const expected = { type: "credit_note", traderInvoiceNumber: number };
  const asked = { ...TARGET, of, expected, request, intent: 1, content: request.bodyJson, sinceMs: START_MS };
  return { ...asked, idempotencyKey };
}

export const saleRequest = (saleId: string, number = "INV-1") => ({
  ...TARGET,
  saleId,
  of: { type: "sale" as const, number },
});
