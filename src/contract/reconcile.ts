import type { CallTarget, ConnectionProfile } from "./connection.ts";
import type { Refusal } from "./calls.ts";
import type { PaymentRule } from "./jobs.ts";

export interface PreparedReconcile {
  profile: ConnectionProfile;
  /** The connection whose bill payments count, or why there is none. */
  accounting: string | NotCompared;
  rule: PaymentRule;
}

/** Supplier invoices were not held against bill payments: what was found of them before stands as it was. */
export interface NotCompared {
  kind: "not-compared";
  /**
   * - `no-accounting-service`: the worker has no connection to one
   * - `no-accounting-connection`: none of its connections is known to pay the bills of the business
   * - `not-synchronised`: the ledger does not have all of the invoices yet, or all of the payments
   */
  why: "no-accounting-service" | "no-accounting-connection" | "not-synchronised";
  reason: string;
  nextStep: string;
}

export type PaymentComparison =
  | {
      kind: "compared";
      accounting: string;
      /** The ledger had all invoices as of then, and all payments as of then (Unix milliseconds, by its clock). */
      invoicesAsOfMs: number;
      paymentsAsOfMs: number;
    }
  | NotCompared;

export interface ReconcileProgress {
  documents: number;
  /** Final there, and the same: not read again until they change. */
  final: number;
  differing: number;
  /** Of which the API gave no answer that could be compared. */
  unreadable: number;
  /** Not final: they were rejected, and then given up; absent for none. */
  givenUp?: number;
  /** Not read, since an earlier reconciliation found them final and the same; known once all others are read. */
  skipped?: number;
}

/** The counts of those that were checked add up: what is none of the others may still change. */
export function reconcileProgressText(progress: ReconcileProgress): string {
  const { documents, final, differing, unreadable, givenUp = 0, skipped } = progress;
  const open = documents - final - differing - unreadable - givenUp;
  const counts = [
    `${final} final and the same`,
    ...(open > 0 ? [`${open} not final yet (in flight or rejected)`] : []),
    ...(givenUp > 0 ? [`${givenUp} given up (rejected, then cancelled)`] : []),
    `${differing} different`,
    `${unreadable} unreadable`,
  ];
  const checked = `${documents} ${documents === 1 ? "document" : "documents"} checked: ${counts.join(", ")}`;
  return skipped === undefined ? checked : `${checked}; ${skipped} skipped, final and the same when last checked`;
}

export const DOCUMENT_FINDINGS = [
  "document-behind",
  "document-differs",
  "document-not-there",
  "document-unreadable",
] as const;

export const PAYMENT_FINDINGS = [
  "payment-without-number",
  "payment-without-invoice",
  "payment-of-other-supplier",
  "payment-of-several",
  "payment-in-other-currency",
  "payment-without-amount",
  "paid-although-rejected",
  "paid-another-amount",
  "not-paid",
] as const;

export type FindingKind = (typeof DOCUMENT_FINDINGS | typeof PAYMENT_FINDINGS)[number];

export interface ReconcileFinding {
  kind: FindingKind;
  subject: string;
  reason: string;
  nextStep: string;
  sinceMs: number;
}

export interface ReconcileFindings {
  count: number;
  byKind: Partial<Record<FindingKind, number>>;
  first: ReconcileFinding[];
}

/** Nothing found says that all matches only where `payments` were compared too. */
export interface ReconcileOutcome extends ReconcileProgress {
  payments: PaymentComparison;
  findings: ReconcileFindings;
}

export interface DocumentToReconcile {
  type: "sale" | "credit_note";
  number: string;
  saleId: string;
}

export interface DocumentsToReconcileRequest extends CallTarget {
  after?: DocumentToReconcile | undefined;
}

export interface ReconcileDocumentRequest extends CallTarget, DocumentToReconcile {}

/** `givenUp`: a document that is not final, and whose sale or credit note is cancelled. */
export type ReconcileDocumentResult =
  | { kind: "final" | "not-final" | "differs" | "unreadable"; givenUp?: true }
  | Refusal;

export interface ReconcilePaymentsRequest extends CallTarget {
  accounting: string;
  rule: PaymentRule;
}
