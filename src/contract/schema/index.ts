/** The zod schemas of everything that crosses an edge. Never imported by workflows: they run on plain types. */
export { durationMs } from "./duration.ts";
export {
  processSyncBatchInputSchema,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncBillPaymentsInputSchema,
  syncPurchasesInputSchema,
} from "./job-inputs.ts";
export { InvalidInputError, parseInput } from "./parse-input.ts";
export { readEventsInputSchema } from "./read-events-input.ts";
export { refundRequestSchema } from "./refund-request.ts";
export { correctedSaleSchema, saleInputSchema } from "./sale-input.ts";
export { findSaleInputSchema, saleStartSchema } from "./sale-start.ts";
