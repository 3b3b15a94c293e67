/** The zod schemas of everything that crosses an edge. Never imported by workflows: they run on plain types. */
export { correctionInputSchema } from "./correction-input.ts";
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
export { findSaleInputSchema, saleInputSchema, saleStartSchema } from "./sale-input.ts";
