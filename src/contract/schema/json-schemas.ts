import { z } from "zod";

import { correctionInputSchema } from "./correction-input.ts";
import {
  processSyncBatchInputSchema,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncBillPaymentsInputSchema,
  syncPurchasesInputSchema,
} from "./job-inputs.ts";
import { replySchema, saleOutcomeSchema, saleStateSchema } from "./outcomes.ts";
import { creditNoteInputSchema, refundUpdateSchema } from "./refund-request.ts";
import { readEventsInputSchema } from "./read-events-input.ts";
import { saleInputSchema } from "./sale-input.ts";
import {
  acknowledgeRequestSchema,
  cancelRequestSchema,
  outcomeRequestSchema,
  resolveBatchRequestSchema,
  resolveDocumentRequestSchema,
  resolveStockRequestSchema,
  retryRequestSchema,
} from "./updates.ts";

/** What is published, by the file's name: inputs by workflow type, updates by name, and what they answer. */
export const PUBLISHED_SCHEMAS = {
  "input.sale": saleInputSchema,
  "input.creditNote": creditNoteInputSchema,
  "input.correctSale": correctionInputSchema,
  "input.registerItems": registerItemsInputSchema,
  "input.syncPurchases": syncPurchasesInputSchema,
  "input.syncBillPayments": syncBillPaymentsInputSchema,
  "input.processSyncBatch": processSyncBatchInputSchema,
  "input.reconcile": reconcileInputSchema,
  "input.readEvents": readEventsInputSchema,
  "update.outcome": outcomeRequestSchema,
  "update.refund": refundUpdateSchema,
  "update.retry": retryRequestSchema,
  "update.cancel": cancelRequestSchema,
  "update.resolveStock": resolveStockRequestSchema,
  "update.resolveDocument": resolveDocumentRequestSchema,
  "update.resolveBatch": resolveBatchRequestSchema,
  "update.acknowledge": acknowledgeRequestSchema,
  "answer.outcome": saleOutcomeSchema,
  "answer.state": saleStateSchema,
  "answer.update": replySchema,
} as const;

export type PublishedSchema = keyof typeof PUBLISHED_SCHEMAS;

/** As JSON Schema, draft 2020-12. */
export function jsonSchemaOf(name: PublishedSchema): object {
  return z.toJSONSchema(PUBLISHED_SCHEMAS[name], { io: "input", unrepresentable: "any" });
}
