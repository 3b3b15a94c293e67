/**
 * The workflow types that a worker serves: the order of their steps. Beside this file are the table of calls
 * (`proxies.ts`) and the workflows of one step (`short.ts`); the others have folders of their own, which call by that
 * table. Whatever touches the world is an activity, called by its name as `src/contract/activities.ts` declares it.
 *
 * Stands on: `src/contract`, `workflows/item-registration`, `workflows/job`, `workflows/operator` (types),
 * `workflows/reconcile`, `workflows/sale`, `workflows/sdk`, `workflows/sync-batch`, `workflows/synced`.
 */
export { syncBillPayments } from "./synced/bill-payments.ts";
export { reconcile } from "./reconcile/workflow.ts";
export { registerItems } from "./item-registration/workflow.ts";
export { syncPurchases } from "./synced/purchases.ts";
export { findSale, firstOutcome, readEvents, scheduled } from "./short.ts";
export { sale } from "./sale/workflow.ts";
export { processSyncBatch } from "./sync-batch/workflow.ts";
