/** The zod schemas of everything that crosses an edge. Never imported by workflows: they run on plain types. */
export { durationMs } from "./fields.ts";
export {
  processSyncBatchInputSchema,
  readEventsInputSchema,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncBillPaymentsInputSchema,
  syncPurchasesInputSchema,
} from "./job-inputs.ts";
export { InvalidInputError, parseInput } from "./parse-input.ts";
export {
  correctedSaleSchema,
  findSaleInputSchema,
  refundRequestSchema,
  saleInputSchema,
  saleStartSchema,
} from "./sale.ts";
