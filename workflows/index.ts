/**
 * The workflow types that a worker serves: the order of the steps, and nothing else. Whatever touches the world is an
 * activity.
 */
export { syncBillPayments } from "./synced/bill-payments.ts";
export { reconcile } from "./reconcile/workflow.ts";
export { registerItems } from "./item-registration/workflow.ts";
export { syncPurchases } from "./synced/purchases.ts";
export { findSale, firstOutcome, readEvents, scheduled } from "./short.ts";
export { sale } from "./sale/workflow.ts";
export { processSyncBatch } from "./sync-batch/workflow.ts";
