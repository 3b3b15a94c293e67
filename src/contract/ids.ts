import { boundedName } from "./bounded-name.ts";
import { escapedPart } from "./escaped-part.ts";

/**
 * Workflow ids. Each part is escaped as a URI component; an id longer than 200 characters keeps a
 * readable prefix and ends in `~` and a SHA-256, since Temporal's PostgreSQL stores 255.
 */
export const MAX_WORKFLOW_ID_LENGTH = 200;

/** What stands for the business in an id when none is known (a key bound to one business that is not named). */
export const NO_BUSINESS = "-";

interface OfBusiness {
  connection: string;
  businessId?: string | undefined;
}

export interface SaleIdentity extends OfBusiness {
  traderInvoiceNumber: string;
}

/** `sale/<connection>/<business>/<traderInvoiceNumber>` */
export function saleWorkflowId(sale: SaleIdentity): string {
  return workflowId("sale", sale.connection, sale.businessId ?? NO_BUSINESS, sale.traderInvoiceNumber);
}

/** `find-sale/<connection>/<business>/<traderInvoiceNumber>`: those who ask at the same time share one answer. */
export function findSaleWorkflowId(sale: SaleIdentity): string {
  return workflowId("find-sale", sale.connection, sale.businessId ?? NO_BUSINESS, sale.traderInvoiceNumber);
}

/**
 * `first-outcome/<workflow id>/<request id>`: what one operation of a Nexus caller waits in.
 * @param requestId the same for all repetitions of one call
 */
export function firstOutcomeWorkflowId(awaited: string, requestId: string): string {
  return boundedName(`first-outcome/${awaited}/${escapedPart(requestId)}`, MAX_WORKFLOW_ID_LENGTH);
}

/** `read-events/<connection>/<business>/<cursor>/<now or wait>`: those who read at the same time share one answer. */
export function readEventsWorkflowId(request: OfBusiness & { after?: string | undefined; waits: boolean }): string {
  const { connection, businessId, after, waits } = request;
  return workflowId("read-events", connection, businessId ?? NO_BUSINESS, after ?? "0", waits ? "wait" : "now");
}

/** `register-items/<connection>/<business>`: one at a time. */
export function registerItemsWorkflowId({ connection, businessId }: OfBusiness): string {
  return workflowId("register-items", connection, businessId ?? NO_BUSINESS);
}

/** `sync-purchases/<connection>/<business>`: one at a time. */
export function syncPurchasesWorkflowId({ connection, businessId }: OfBusiness): string {
  return workflowId("sync-purchases", connection, businessId ?? NO_BUSINESS);
}

/** `reconcile/<connection>/<business>`: one at a time. */
export function reconcileWorkflowId({ connection, businessId }: OfBusiness): string {
  return workflowId("reconcile", connection, businessId ?? NO_BUSINESS);
}

/** `sync-bill-payments/<connection>`: one at a time. */
export function syncBillPaymentsWorkflowId(connection: string): string {
  return workflowId("sync-bill-payments", connection);
}

/** `sync-batch/<connection>/<syncBatchId>`: one run a batch at a time. */
export function syncBatchWorkflowId(batch: { connection: string; syncBatchId: string }): string {
  return workflowId("sync-batch", batch.connection, batch.syncBatchId);
}

function workflowId(...parts: string[]): string {
  return boundedName(parts.map(escapedPart).join("/"), MAX_WORKFLOW_ID_LENGTH);
}
