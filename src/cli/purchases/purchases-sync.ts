import {
  type PurchasesProgress,
  type SyncPurchasesOutcome,
  syncPurchasesWorkflowId,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import { type JobCommand, leftOutText } from "../jobs/job-command.ts";

export const purchasesSync: JobCommand<PurchasesProgress, SyncPurchasesOutcome> = {
  workflow: WORKFLOW_TYPES.syncPurchases,
  noun: "synchronisation",
  group: "purchases",
  workflowId: syncPurchasesWorkflowId,
  progressLine: ({ pages, rows, added, changed, leftOut }) =>
    `${pages} pages with ${rows} purchases read: ${added} new, ${changed} changed${leftOutText(leftOut)}`,
  resultText: outcomeText,
};

export function outcomeText(outcome: SyncPurchasesOutcome): string {
  const { total, byStatus, findings } = outcome;
  const statuses = Object.entries(byStatus).map(([status, count]) => `${count} ${status}`);
  const { duplicates, confirmationErrors, missing } = findings;
  const lines = [
    purchasesSync.progressLine(outcome),
    `The ledger holds ${total}${statuses.length > 0 ? `: ${statuses.join(", ")}` : ""}.`,
    ...finding(
      duplicates.count,
      "are there more than once, under ids of their own: see in the dashboard which of them counts",
      duplicates.first.map(
        ({ supplierPin, supplierInvoiceNumber, purchaseIds }) =>
          `${supplierInvoiceNumber} of ${supplierPin}: ${purchaseIds.join(", ")}`,
      ),
    ),
    ...finding(
      confirmationErrors.count,
      "have an error of their confirmation: correct it in the dashboard",
      confirmationErrors.first.map(
        ({ purchaseId, supplierInvoiceNumber, confirmationError }) =>
          `${supplierInvoiceNumber} (${purchaseId}): ${confirmationError}`,
      ),
    ),
    ...finding(missing.count, "were listed once and are not any more: ask its provider why", missing.first),
  ];
  const open = (byStatus["pulled"] ?? 0) + (byStatus["pending_review"] ?? 0);
  if (open > 0) lines.push(`${open} wait for a decision: they are confirmed or rejected in the API's dashboard.`);
  return lines.join("\n");
}

function finding(count: number, what: string, first: readonly string[]): string[] {
  if (count === 0) return [];
  const more = count > first.length ? [`  and ${count - first.length} more`] : [];
  return [`Finding: ${count} ${what}`, ...first.map((line) => `  ${line}`), ...more];
}
