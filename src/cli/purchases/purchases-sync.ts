import {
  type SyncProgress,
  type SyncPurchasesOutcome,
  syncPurchasesWorkflowId,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import { type JobCommand, leftOutText } from "../jobs/job-command.ts";
import { counted } from "../output.ts";

export const purchasesSync: JobCommand<SyncProgress, SyncPurchasesOutcome> = {
  workflow: WORKFLOW_TYPES.syncPurchases,
  noun: "synchronisation",
  group: "purchases",
  workflowId: syncPurchasesWorkflowId,
  progressLine: ({ pages, rows, added, changed, leftOut }) =>
    `${counted(pages, "page")} with ${counted(rows, "purchase")} read: ${added} new, ${changed} changed${leftOutText(leftOut)}`,
  resultText: outcomeText,
  inAFewWords: ({ added, changed, findings }) => {
    const found = Object.values(findings).reduce((sum, { count }) => sum + count, 0);
    return [`${added} new, ${changed} changed`, ...(found > 0 ? [counted(found, "finding")] : [])].join(", ");
  },
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
      ["is there more than once, under ids of its own", "are there more than once, under ids of their own"],
      "see in the dashboard which of them counts",
      duplicates.first.map(
        ({ supplierPin, supplierInvoiceNumber, purchaseIds }) =>
          `${supplierInvoiceNumber} of ${supplierPin}: ${purchaseIds.join(", ")}`,
      ),
    ),
    ...finding(
      confirmationErrors.count,
      ["has an error of its confirmation", "have an error of their confirmation"],
      "correct it in the dashboard",
      confirmationErrors.first.map(
        ({ purchaseId, supplierInvoiceNumber, confirmationError }) =>
          `${supplierInvoiceNumber} (${purchaseId}): ${confirmationError}`,
      ),
    ),
    ...finding(
      missing.count,
      ["was listed once and is not any more", "were listed once and are not any more"],
      "ask its provider why",
      missing.first,
    ),
  ];
  const open = (byStatus["pulled"] ?? 0) + (byStatus["pending_review"] ?? 0);
  if (open > 0) {
    const [wait, decided] = open === 1 ? ["waits", "it is"] : ["wait", "they are"];
    lines.push(`${open} ${wait} for a decision: ${decided} confirmed or rejected in the API's dashboard.`);
  }
  return lines.join("\n");
}

function finding(
  count: number,
  [one, several]: readonly [one: string, several: string],
  todo: string,
  first: readonly string[],
): string[] {
  if (count === 0) return [];
  const more = count > first.length ? [`  and ${count - first.length} more`] : [];
  return [`Finding: ${count} ${count === 1 ? one : several}: ${todo}`, ...first.map((line) => `  ${line}`), ...more];
}
