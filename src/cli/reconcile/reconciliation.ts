import {
  type FindingKind,
  nairobiTime,
  type PaymentComparison,
  type ReconcileFinding,
  type ReconcileOutcome,
  type ReconcileProgress,
  reconcileWorkflowId,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import type { JobCommand } from "../jobs/job-command.ts";

export const reconciliation: JobCommand<ReconcileProgress, ReconcileOutcome> = {
  workflow: WORKFLOW_TYPES.reconcile,
  noun: "reconciliation",
  group: "reconcile",
  workflowId: reconcileWorkflowId,
  progressLine: ({ documents, final, differing }) =>
    `${documents} documents read: ${final} final and the same, ${differing} differing`,
  resultText,
  failed: ({ findings, payments }) => findings.count > 0 || isLacking(payments),
};

/** In the order in which they are shown: what is about our own documents first. */
const TITLES: Readonly<Record<FindingKind, string>> = {
  "document-not-there": "documents that the API does not have",
  "document-differs": "documents that the API tells otherwise",
  "document-unreadable": "documents for which the API gives no answer that could be compared",
  "document-behind": "documents of which the ledger does not know the end yet",
  "paid-although-rejected": "supplier invoices that were rejected, and paid",
  "paid-another-amount": "supplier invoices of which another amount was paid",
  "payment-of-several": "payments that fit several supplier invoices",
  "payment-of-other-supplier": "payments for an invoice of another supplier",
  "payment-in-other-currency": "payments in another currency than their invoice",
  "payment-without-amount": "payments without an amount",
  "payment-without-invoice": "payments for an invoice that the authority does not hold",
  "payment-without-number": "payments that name no invoice",
  "not-paid": "supplier invoices that no payment names",
};

/** Who has no accounting service misses nothing; with one, a part that was asked for was not done. */
function isLacking(payments: PaymentComparison): boolean {
  return payments.kind === "not-compared" && payments.why !== "no-accounting-service";
}

function resultText(outcome: ReconcileOutcome): string {
  const { payments } = outcome;
  const { count, byKind, first } = outcome.findings;
  const lines = [`${reconciliation.progressLine(outcome)}.`, ...paymentLines(payments)];
  if (count === 0) {
    const all = payments.kind === "compared" ? "Everything matches." : "All that was compared matches.";
    return [...lines, all].join("\n");
  }
  for (const [kind, title] of Object.entries(TITLES) as [FindingKind, string][]) {
    const found = byKind[kind] ?? 0;
    if (found === 0) continue;
    const listed = first.filter((one) => one.kind === kind);
    lines.push("", `${found} ${title}`, ...listed.flatMap(findingLines));
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
