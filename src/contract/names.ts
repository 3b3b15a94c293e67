/** The names that other programs hold on to. Changing one is a breaking change. */

export const MAIN_TASK_QUEUE = "fiscalflow";

export const WORKFLOW_TYPES = {
  sale: "sale",
  registerItems: "registerItems",
  syncPurchases: "syncPurchases",
  syncBillPayments: "syncBillPayments",
  processSyncBatch: "processSyncBatch",
  scheduled: "scheduled",
  reconcile: "reconcile",
  /** Asks the ledger for a sale that Temporal no longer knows. */
  findSale: "findSale",
  /** Waits for the first outcome of a sale, for a caller through Nexus. */
  firstOutcome: "firstOutcome",
  readEvents: "readEvents",
} as const;

export type WorkflowType = (typeof WORKFLOW_TYPES)[keyof typeof WORKFLOW_TYPES];

/** Search attributes, all of type Keyword. */
export const SEARCH_ATTRIBUTES = {
  business: "FiscalBusiness",
  invoice: "FiscalInvoice",
  saleId: "FiscalSaleId",
  /** The number of the credit note that reverses the sale, or is to. */
  creditNote: "FiscalCreditNote",
  stage: "FiscalStage",
  attention: "FiscalAttention",
} as const;

/** PostgreSQL stores at most 255 characters, and a longer one would make the workflow task fail for ever. */
export function keywordValue(text: string): string {
  return Array.from(text).slice(0, 255).join("");
}

export const SIGNALS = {
  callbackReceived: "callbackReceived",
  refundRequested: "refundRequested",
  syncRequested: "syncRequested",
} as const;

export const STATE_QUERY = "state";

/** Of a query that a worker refuses because its copy of the run may be ahead of the history. */
export const QUERY_REFUSED = "The worker is reloading this workflow from its history. Ask again.";

/** Sales, credit notes and their stock: somebody waits at a till. One request an activity. */
export function complianceTaskQueue(application: string): string {
  return `fiscalflow.compliance.${application}`;
}

/** Polls, registration batches and syncs of the same application: nobody waits. */
export function complianceBackgroundTaskQueue(application: string): string {
  return `fiscalflow.compliance.${application}.background`;
}

/** One connection to the accounting service. One request an activity. */
export function accountingTaskQueue(connection: string): string {
  return `fiscalflow.accounting.${connection}`;
}

export const NAME_PATTERN = /^[a-z0-9-]{1,32}$/;

export const DEFAULT_CONNECTION = "default";

/** The reason of a cancellation by Temporal's own button: it takes none. */
export const CANCELLED_IN_TEMPORAL = "cancelled through Temporal";

/** `FiscalStage`. A credit note goes through the same words and ends `credited`. */
export const STAGES = [
  "resolving-items",
  "registering",
  "submitting",
  "adjusting-stock",
  "awaiting-authority",
  "rejected",
  "completed",
  "crediting",
  "credited",
  "cancelled",
] as const;

export type Stage = (typeof STAGES)[number];

/** The stages that nothing but a refund moves on. */
export const SETTLED_STAGES: readonly Stage[] = ["completed", "credited", "cancelled"];

/**
 * What an operator is needed for, in the order in which several at once are shown
 * (https://github.com/fiscalflow/fiscalflow/blob/main/docs/runbook.md, "The codes").
 */
export const ATTENTION_CODES = [
  "document-unknown",
  "batch-unknown",
  "credentials",
  "item-unknown",
  "item-needs-data",
  "item-rejected",
  "invalid-request",
  "not-found",
  "rejected",
  "already-credited",
  "correction-incomplete",
  "mismatch",
  "unexpected-answer",
  "stock-unknown",
  "stock-refused",
  "stock-unreported",
  "authority-slow",
] as const;

export type AttentionCode = (typeof ATTENTION_CODES)[number];
