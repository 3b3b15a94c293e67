/** The workflow types that a worker serves. */
export { creditNote } from "./credit-note/workflow.ts";
export { syncPurchases } from "./purchases-sync/workflow.ts";
export { sale } from "./sale/workflow.ts";
