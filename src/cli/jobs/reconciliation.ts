import {
  type FindingKind,
  nairobiTime,
  type PaymentComparison,
  type ReconcileFinding,
  type ReconcileOutcome,
  type ReconcileProgress,
  reconcileProgressText,
  reconcileWorkflowId,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import { counted } from "../output.ts";
import { BUSINESS, type Job } from "./job.ts";

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
  const lines = [`${[reconciliation.progressLine(outcome), ...found].join("; ")}.`, ...paymentLines(payments)];
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
