import type { Command } from "commander";

import type { Config } from "../../config/index.ts";
import {
  type BatchProgress,
  DEFAULT_CONNECTION,
  type FindingKind,
  type ItemOutcome,
  nairobiTime,
  type PaymentComparison,
  type ReconcileFinding,
  type ReconcileOutcome,
  type ReconcileProgress,
  reconcileProgressText,
  reconcileWorkflowId,
  type RegisterItemsOutcome,
  registerItemsWorkflowId,
  type RegistrationProgress,
  type SyncBatchOutcome,
  syncBatchWorkflowId,
  type SyncBillPaymentsOutcome,
  syncBillPaymentsWorkflowId,
  type SyncProgress,
  type SyncPurchasesOutcome,
  syncPurchasesWorkflowId,
  WORKFLOW_TYPES,
  type WorkflowType,
} from "../../contract/index.ts";
import { UsageError } from "../context.ts";
import { businessOf, type Scope, servedBusinessOf, withFlags, withScope } from "../options.ts";
import { counted } from "../output.ts";

export interface JobScope {
  connection: string;
  businessId?: string | undefined;
}

interface JobOwner {
  withFlags: (command: Command) => Command;
  of: (config: Config, flags: Scope) => JobScope;
  /** A command that begins something new refuses a business that is not served. @throws UsageError */
  served: (config: Config, flags: Scope) => JobScope;
}

const BUSINESS: JobOwner = { withFlags: withScope, of: businessOf, served: servedBusinessOf };

const ACCOUNTING_CONNECTION: JobOwner = {
  withFlags: (command) => withFlags(command, "the configured accounting connection (default: default)"),
  of: accountingScope,
  served: accountingScope,
};

/**
 * Where this configuration has accounting connections, it must be one of them: a workflow on one that nobody serves
 * would fail.
 * @throws UsageError
 */
function accountingScope(
  { accounting }: Pick<Config, "accounting">,
  { connection = DEFAULT_CONNECTION }: Scope,
): JobScope {
  const known = accounting.map(({ name }) => name);
  if (known.length === 0 || known.includes(connection)) return { connection };
  throw new UsageError(
    `The accounting connection "${connection}" is not configured here (configured: ${known.join(", ")}).`,
  );
}

/** A workflow without a document, as the command line starts, follows and shows it. */
export interface Job<Progress, Result> {
  workflow: WorkflowType;
  /** In a sentence: `synchronisation`. */
  noun: string;
  /** The words that start it, of which the first is its group: `purchases sync`. */
  start: string;
  owner: JobOwner;
  workflowId: (scope: JobScope) => string;
  /** Of the workflow's input, beside the scope. */
  input?: object;
  /** What stands between the verb and the flags of a command: `batch retry ID`. */
  argument?: string;
  progressLine: (progress: Progress) => string;
  /** What came of it; the first line says whether somebody has to look. */
  resultText: (result: Result) => string;
  failed?: (result: Result) => boolean;
}

/** Of whatever type: only what belongs to a workflow of that type may be handed to it. */
export type AnyJob = Job<never, never>;

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
        : "payments moved faster than they could be read, so run --full again, or one has no id that can be read: `fiscalflow doctor` names it, ask the provider. None was called missing";
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

export const reconciliation: Job<ReconcileProgress, ReconcileOutcome> = {
  workflow: WORKFLOW_TYPES.reconcile,
  noun: "reconciliation",
  start: "reconcile",
  owner: BUSINESS,
  workflowId: reconcileWorkflowId,
  progressLine: reconcileProgressText,
  resultText,
  failed: ({ findings, payments }) => findings.count > 0 || isLacking(payments),
};

/** In the order in which they are shown: what is about our own documents first. */
const TITLES: Readonly<Record<FindingKind, string>> = {
  "document-not-there": "Documents that the API does not have",
  "document-differs": "Documents that the API tells otherwise",
  "document-unreadable": "Documents for which the API gives no answer that could be compared",
  "document-behind": "Documents of which the ledger does not know the end yet",
  "paid-although-rejected": "Supplier invoices that were rejected, and paid",
  "paid-another-amount": "Supplier invoices of which another amount was paid",
  "payment-of-several": "Payments that fit several supplier invoices",
  "payment-of-other-supplier": "Payments for invoices of another supplier",
  "payment-in-other-currency": "Payments in another currency than their invoices",
  "payment-without-amount": "Payments without an amount",
  "payment-without-invoice": "Payments for invoices that the authority does not hold",
  "payment-without-number": "Payments that name no invoice",
  "not-paid": "Supplier invoices that no payment names",
};

/** Who has no accounting service misses nothing; with one, a part that was asked for was not done. */
function isLacking(payments: PaymentComparison): boolean {
  return payments.kind === "not-compared" && payments.why !== "no-accounting-service";
}

function resultText(outcome: ReconcileOutcome): string {
  const { payments } = outcome;
  const { count, byKind, first } = outcome.findings;
  const found = [
    ...(count > 0 ? [counted(count, "finding")] : []),
    ...(isLacking(payments) ? ["payments not compared"] : []),
  ];
  const lines = [`${[reconcileProgressText(outcome), ...found].join("; ")}.`, ...paymentLines(payments)];
  if (count === 0) {
    const all = payments.kind === "compared" ? "Everything matches." : "All that was compared matches.";
    return [...lines, all].join("\n");
  }
  for (const [kind, title] of Object.entries(TITLES) as [FindingKind, string][]) {
    const found = byKind[kind] ?? 0;
    if (found === 0) continue;
    const listed = first.filter((finding) => finding.kind === kind);
    lines.push("", `${title}: ${found}`, ...listed.flatMap(findingLines));
    if (found > listed.length)
      lines.push(`  and ${found - listed.length} more, in the ledger's table reconcile_findings`);
  }
  return lines.join("\n");
}

function paymentLines(payments: PaymentComparison): string[] {
  if (payments.kind === "compared") {
    const { accounting, invoicesAsOfMs, paymentsAsOfMs } = payments;
    return [
      `Supplier invoices (as of ${nairobiTime(invoicesAsOfMs)}) were held against the bill payments of connection ${accounting} (as of ${nairobiTime(paymentsAsOfMs)}).`,
    ];
  }
  return [
    `Supplier invoices were not held against bill payments, and what was found of them before stands. ${payments.reason}`,
    `  ${payments.nextStep}`,
  ];
}

function findingLines({ reason, nextStep, sinceMs }: ReconcileFinding): string[] {
  return [`  ${reason} (found since ${nairobiTime(sinceMs)})`, `    ${nextStep}`];
}

const JOBS: readonly AnyJob[] = [itemsRegistration, purchasesSync, billPaymentsSync, reconciliation];

/** How the command line shows a job; undefined where the workflow's type is no job's. */
export function jobOf({ type, workflowId }: { type: string; workflowId: string }): AnyJob | undefined {
  if (type !== WORKFLOW_TYPES.processSyncBatch) return JOBS.find(({ workflow }) => workflow === type);
  const id = workflowId.split("/")[2] ?? "";
  // What is bounded or escaped in ways of its own cannot be read back.
  return syncBatch(/~|%u/.test(id) ? "<id>" : decodeURIComponent(id));
}
