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
import { BUSINESS, type Job } from "../jobs/job.ts";
import { counted } from "../output.ts";

export const reconciliation: Job<ReconcileProgress, ReconcileOutcome> = {
  workflow: WORKFLOW_TYPES.reconcile,
  noun: "reconciliation",
  start: "reconcile",
  owner: BUSINESS,
  workflowId: reconcileWorkflowId,
  progressLine: reconcileProgressText,
  resultText,
  unended: "It has not ended: until then, nothing is known to match.",
  failed: ({ findings, payments }) => findings.count > 0 || isLacking(payments),
};

/** In the order in which they are shown: what is about our own documents first. */
const TITLES: Readonly<Record<FindingKind, readonly [one: string, several: string]>> = {
  "document-not-there": ["document that the API does not have", "documents that the API does not have"],
  "document-differs": ["document that the API tells otherwise", "documents that the API tells otherwise"],
  "document-unreadable": [
    "document for which the API gives no answer that could be compared",
    "documents for which the API gives no answer that could be compared",
  ],
  "document-behind": [
    "document of which the ledger does not know the end yet",
    "documents of which the ledger does not know the end yet",
  ],
  "paid-although-rejected": [
    "supplier invoice that was rejected, and paid",
    "supplier invoices that were rejected, and paid",
  ],
  "paid-another-amount": [
    "supplier invoice of which another amount was paid",
    "supplier invoices of which another amount was paid",
  ],
  "payment-of-several": ["payment that fits several supplier invoices", "payments that fit several supplier invoices"],
  "payment-of-other-supplier": [
    "payment for an invoice of another supplier",
    "payments for an invoice of another supplier",
  ],
  "payment-in-other-currency": [
    "payment in another currency than its invoice",
    "payments in another currency than their invoices",
  ],
  "payment-without-amount": ["payment without an amount", "payments without an amount"],
  "payment-without-invoice": [
    "payment for an invoice that the authority does not hold",
    "payments for invoices that the authority does not hold",
  ],
  "payment-without-number": ["payment that names no invoice", "payments that name no invoice"],
  "not-paid": ["supplier invoice that no payment names", "supplier invoices that no payment names"],
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
  for (const [kind, [one, several]] of Object.entries(TITLES) as [FindingKind, readonly [string, string]][]) {
    const found = byKind[kind] ?? 0;
    if (found === 0) continue;
    const listed = first.filter((finding) => finding.kind === kind);
    lines.push("", `${found} ${found === 1 ? one : several}`, ...listed.flatMap(findingLines));
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
