import {
  type BatchProgress,
  type ItemOutcome,
  registerItemsWorkflowId,
  type RegisterItemsOutcome,
  type RegistrationProgress,
  type SyncBatchOutcome,
  syncBatchWorkflowId,
  type SyncBillPaymentsOutcome,
  syncBillPaymentsWorkflowId,
  type SyncProgress,
  type SyncPurchasesOutcome,
  syncPurchasesWorkflowId,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import { counted } from "../output.ts";
import { ACCOUNTING_CONNECTION, type AnyJob, BUSINESS, type Job } from "./job.ts";
import { reconciliation } from "./reconciliation.ts";

/** How the command line shows a job; undefined where the workflow's type is no job's. */
export function jobOf({ type, workflowId }: { type: string; workflowId: string }): AnyJob | undefined {
  if (type !== WORKFLOW_TYPES.processSyncBatch) return JOBS.find(({ workflow }) => workflow === type);
  const id = workflowId.split("/")[2] ?? "";
  // What is bounded or escaped in ways of its own cannot be read back.
  return syncBatch(/~|%u/.test(id) ? "<id>" : decodeURIComponent(id));
}

export const itemsRegistration: Job<RegistrationProgress, RegisterItemsOutcome> = {
  workflow: WORKFLOW_TYPES.registerItems,
  noun: "registration",
  start: "items register",
  owner: BUSINESS,
  workflowId: registerItemsWorkflowId,
  progressLine: ({ total, counts }) => {
    const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return `${done} of ${total ?? "?"} items: ${itemCounts(counts)}`;
  },
  resultText: ({ counts, needsData, refused, unknown, unclear }) => {
    const left = counts["needs-data"] + counts.refused + counts.unknown + counts.unclear;
    const listed = [...needsData, ...refused, ...unknown, ...unclear];
    return [
      itemCounts(counts),
      ...listed.map(itemLine),
      ...(left > listed.length ? [`… and ${left - listed.length} more: fiscalflow items report`] : []),
      ...(left > 0
        ? ["Correct these in the API's dashboard, then run it again: what is registered is passed over."]
        : []),
    ].join("\n");
  },
};

function itemCounts(counts: RegisterItemsOutcome["counts"]): string {
  const words = Object.entries(counts).flatMap(([kind, count]) =>
    count > 0 ? [`${count} ${count === 1 && kind === "needs-data" ? "lacks data" : itemWords(kind)}`] : [],
  );
  return words.join(", ") || "nothing yet";
}

function itemWords(kind: string): string {
  return kind === "needs-data" ? "lack data" : kind.replace("-", " ");
}

/** `SOAP-1 (Bar soap): lacks classificationMapping` */
export function itemLine({ kind, item, name, needs, reason }: ItemOutcome): string {
  const what = kind === "needs-data" ? `lacks ${needs?.join(" and ") ?? "data"}` : itemWords(kind);
  return `${item}${name ? ` (${name})` : ""}: ${what}${reason === undefined ? "" : `: ${reason}`}`;
}

export const purchasesSync: Job<SyncProgress, SyncPurchasesOutcome> = {
  workflow: WORKFLOW_TYPES.syncPurchases,
  noun: "synchronisation",
  start: "purchases sync",
  owner: BUSINESS,
  workflowId: syncPurchasesWorkflowId,
  progressLine: (progress) => readLine(progress, "purchase"),
  resultText: (outcome) => {
    const { byStatus, findings } = outcome;
    const { duplicates, confirmationErrors, missing } = findings;
    const found = duplicates.count + confirmationErrors.count + missing.count;
    const open = (byStatus["pulled"] ?? 0) + (byStatus["pending_review"] ?? 0);
    const invoices = duplicates.first.map(
      ({ supplierPin, supplierInvoiceNumber, purchaseIds }) =>
        `${supplierInvoiceNumber} of ${supplierPin}: ${purchaseIds.join(", ")}`,
    );
    const errors = confirmationErrors.first.map(
      ({ purchaseId, supplierInvoiceNumber, confirmationError }) =>
        `${supplierInvoiceNumber} (${purchaseId}): ${confirmationError}`,
    );
    return [
      `${readLine(outcome, "purchase")}${found > 0 ? `, ${counted(found, "finding")}` : ""}`,
      heldLine(outcome),
      ...finding("There more than once (see in the dashboard which of them counts)", duplicates.count, invoices),
      ...finding("With an error of the confirmation (correct it in the dashboard)", confirmationErrors.count, errors),
      ...finding(MISSING, missing.count, missing.first),
      ...(open > 0 ? [`Waiting to be confirmed or rejected in the API's dashboard: ${open}`] : []),
    ].join("\n");
  },
};

export const billPaymentsSync: Job<SyncProgress, SyncBillPaymentsOutcome> = {
  workflow: WORKFLOW_TYPES.syncBillPayments,
  noun: "synchronisation",
  start: "bill-payments sync",
  owner: ACCOUNTING_CONNECTION,
  workflowId: ({ connection }) => syncBillPaymentsWorkflowId(connection),
  progressLine: (progress) => readLine(progress, "bill payment"),
  resultText: (outcome) => {
    const { missing, settled, kind } = outcome;
    const notSettled =
      kind === "recent"
        ? "the accounting service counts others than the ledger holds, so a payment is gone, cannot be read, or changed without a new updatedAt: run with --full"
        : "payments moved faster than they could be read, or one has no id that can be read (`fiscalflow doctor` names it), so some may be missed and none was called missing: run --full again";
    return [
      `${readLine(outcome, "bill payment")}${settled ? "" : ", not settled"}`,
      heldLine(outcome),
      ...finding(MISSING, missing, []),
      ...(settled ? [] : [`Finding: ${notSettled}`]),
    ].join("\n");
  },
};

const MISSING = "Listed once and not any more (ask the provider why)";

function readLine({ round, pages, rows, added, changed, leftOut }: SyncProgress, noun: string): string {
  const again = round > 1 ? ` (round ${round})` : "";
  const left =
    leftOut === undefined
      ? ""
      : `, ${leftOut} left out because they do not have the documented form (see fiscalflow doctor)`;
  return `${counted(pages, "page")} with ${counted(rows, noun)} read${again}: ${added} new, ${changed} changed${left}`;
}

function heldLine({ total, byStatus }: { total: number; byStatus: Readonly<Record<string, number>> }): string {
  const statuses = Object.entries(byStatus).map(([status, count]) => `${count} ${status}`);
  return `The ledger holds ${total}${statuses.length > 0 ? `: ${statuses.join(", ")}` : ""}.`;
}

/** @param first some of what was found; none where the outcome lists none */
function finding(what: string, count: number, first: readonly string[]): string[] {
  if (count === 0) return [];
  const more = first.length > 0 && count > first.length ? [`  and ${count - first.length} more`] : [];
  return [`Finding: ${what}: ${count}`, ...first.map((line) => `  ${line}`), ...more];
}

export function syncBatch(syncBatchId: string): Job<BatchProgress, SyncBatchOutcome> {
  return {
    workflow: WORKFLOW_TYPES.processSyncBatch,
    noun: "sync batch",
    start: "batch process ID",
    owner: ACCOUNTING_CONNECTION,
    argument: syncBatchId,
    input: { syncBatchId },
    workflowId: ({ connection }) => syncBatchWorkflowId({ connection, syncBatchId }),
    progressLine: ({ standing, message }) =>
      `${syncBatchId} is ${standing}${message === undefined ? "" : `: ${message}`}`,
    resultText: ({ saidBy, message }) =>
      `${syncBatchId} was processed${saidBy === "service" ? "" : ", as an operator said"}: ${message}`,
  };
}

const JOBS: readonly AnyJob[] = [itemsRegistration, purchasesSync, billPaymentsSync, reconciliation];
