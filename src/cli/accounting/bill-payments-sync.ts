import {
  SIGNALS,
  type SyncBillPaymentsOutcome,
  syncBillPaymentsWorkflowId,
  type SyncProgress,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import { type JobCommand, leftOutText } from "../jobs/job-command.ts";
import { counted } from "../output.ts";
import { accountingScope } from "./accounting-scope.ts";

export const billPaymentsSync: JobCommand<SyncProgress, SyncBillPaymentsOutcome> = {
  workflow: WORKFLOW_TYPES.syncBillPayments,
  noun: "synchronisation",
  group: "bill-payments",
  workflowId: ({ connection }) => syncBillPaymentsWorkflowId(connection),
  scopeOf: accountingScope,
  askedBy: SIGNALS.syncRequested,
  progressLine: ({ round, pages, rows, added, changed, leftOut }) =>
    `${counted(pages, "page")} with ${counted(rows, "bill payment")} read${round > 1 ? ` (round ${round})` : ""}: ${added} new, ${changed} changed${leftOutText(leftOut)}`,
  resultText,
  inAFewWords: ({ added, changed, missing, settled }) =>
    [
      `${added} new, ${changed} changed`,
      ...(missing > 0 ? [`${missing} no longer listed`] : []),
      ...(settled ? [] : ["not settled"]),
    ].join(", "),
};

function resultText(outcome: SyncBillPaymentsOutcome): string {
  const { total, byStatus, missing, settled, kind } = outcome;
  const statuses = Object.entries(byStatus).map(([status, count]) => `${count} ${status}`);
  const lines = [
    billPaymentsSync.progressLine(outcome),
    `The ledger holds ${total}${statuses.length > 0 ? `: ${statuses.join(", ")}` : ""}.`,
  ];
  const went = missing === 1 ? "was listed once and is not any more" : "were listed once and are not any more";
  if (missing > 0) lines.push(`Finding: ${missing} ${went}: ask its provider why`);
  if (!settled) lines.push(notSettled(kind));
  return lines.join("\n");
}

function notSettled(kind: SyncProgress["kind"]): string {
  if (kind === "recent") {
    return "Finding: the accounting service counts others than the ledger holds, so a payment is gone, cannot be read, or changed without a new updatedAt: run with --full";
  }
  return "Finding: payments moved faster than they could be read, so some may be missed and none was called missing: run --full again";
}
