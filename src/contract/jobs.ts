import type { Attention, Decision } from "./attention.ts";
import type {
  ClaimedTry,
  NotDone,
  OperatorDecision,
  Refusal,
  SupersededTry,
  UnknownOutcome,
  Unsettled,
} from "./calls.ts";
import type { AccountingProfile, AccountingTarget, CallTarget, ConnectionProfile } from "./connection.ts";
import { boundedName, MAX_WORKFLOW_ID_LENGTH } from "./ids.ts";
import type { WorkflowType } from "./names.ts";
import type { ServiceTrouble } from "./service-trouble.ts";

/** Workflows that carry no document of their own. */

export interface JobState<Progress> {
  workflow: string;
  waitingFor: string;
  progress: Progress;
  attentions: Attention[];
  decisions: Decision[];
  /** What is wrong with a service, as a call of this run that is deferred has met it. */
  serviceTrouble?: ServiceTrouble;
  /** Signals that changed nothing: they could not be read, or the workflow has none of their name. Absent: none. */
  unreadMessages?: number;
}

/** All that begin with this are the product's own, and one that nothing asks for is removed. */
export const SCHEDULE_PREFIX = "fiscalflow/";

export function scheduleId(workflowId: string, which: string): string {
  return boundedName(`${SCHEDULE_PREFIX}${workflowId}/${which}`, MAX_WORKFLOW_ID_LENGTH);
}

/**
 * Input of the `scheduled` workflow: what a Schedule starts. Temporal puts the time behind the id of a workflow that a
 * Schedule starts, so this one starts the other under the one id that it may have.
 */
export interface ScheduledInput {
  workflow: WorkflowType;
  workflowId: string;
  input: { connection: string; businessId?: string; full?: boolean };
  /**
   * - `skip`: the one that runs does it
   * - `wait`: it does less, so this one follows it
   * - `ask`: it does less, and may never end, since webhooks ask it for more: it is asked for this one too
   */
  ifRunning: "skip" | "wait" | "ask";
}

export type ScheduledOutcome = "started" | "skipped" | "asked";

/** A batch is at most so many named items; a whole catalogue has no bound. */
export const MOST_NAMED_ITEMS = 5_000;

export interface PreparedRegisterItems {
  profile: ConnectionProfile;
}

/**
 * - `registered`: by this batch
 * - `registered-already`: nothing was to be done
 * - `needs-data`: `needs` says what is missing
 * - `refused`: nothing is missing, and the authority or the service refused it
 * - `unknown`: no item has that name, or two have
 * - `unclear`: no answer shows its outcome
 */
export const ITEM_OUTCOMES = [
  "registered",
  "registered-already",
  "needs-data",
  "refused",
  "unknown",
  "unclear",
] as const;
export type ItemOutcomeKind = (typeof ITEM_OUTCOMES)[number];

export interface ItemOutcome {
  kind: ItemOutcomeKind;
  /** The item's id; if it is unknown, the name that was given. */
  item: string;
  name?: string | null;
  needs?: string[];
  reason?: string;
}

export interface PlanRegistrationsRequest extends CallTarget {
  batchId: string;
  after?: string | undefined;
  items?: string[] | undefined;
  most: number;
  force: boolean;
  /** The catalogue as of this instant, or a later one (Unix milliseconds). */
  notOlderThanMs: number;
}

/** What needs no call is in the ledger already, and only counted here. */
export type PlanRegistrationsResult =
  | {
      kind: "planned";
      items: { id: string; name: string | null }[];
      settled: Partial<Record<ItemOutcomeKind, number>>;
      total: number;
      /** Where to go on; `null` at the end. */
      next: string | null;
    }
  | Refusal;

export interface KeepRegistrationsRequest extends CallTarget {
  batchId: string;
  outcomes: ItemOutcome[];
}

export interface RegistrationProgress {
  /** `null` until it is known. */
  total: number | null;
  counts: Record<ItemOutcomeKind, number>;
}

/**
 * Result of the `registerItems` workflow. The lists are cut, the counts are not, and the ledger has each item's
 * outcome.
 */
export interface RegisterItemsOutcome {
  counts: Record<ItemOutcomeKind, number>;
  needsData: ItemOutcome[];
  refused: ItemOutcome[];
  unknown: ItemOutcome[];
  unclear: ItemOutcome[];
}

export function noOutcomes(): Record<ItemOutcomeKind, number> {
  return { registered: 0, "registered-already": 0, "needs-data": 0, refused: 0, unknown: 0, unclear: 0 };
}

export interface PreparedSyncBatch {
  profile: AccountingProfile;
  syncBatchId: string;
}

export interface ProcessBatchRequest extends AccountingTarget, ClaimedTry {
  syncBatchId: string;
}

export interface ProcessedBatch {
  kind: "processed";
  message: string;
}

/** An operator's decision on a batch of unknown outcome. */
export interface BatchDecision extends OperatorDecision {
  processed: boolean;
}

/** An operator has decided so, in whichever run. */
export interface DecidedProcessed {
  kind: "decided-processed";
  decision: BatchDecision;
}

export type KnownBatch = ProcessedBatch | DecidedProcessed | SupersededTry | UnknownOutcome;

export type ProcessBatchResult =
  | (ProcessedBatch & Unsettled)
  | DecidedProcessed
  | SupersededTry
  | UnknownOutcome
  | NotDone<"not-processed">;

export interface BatchReference extends AccountingTarget {
  syncBatchId: string;
  generation: number;
  /** When the workflow first asked for this try, by its clock (Unix milliseconds). Absent: an earlier run did. */
  sinceMs?: number;
}

export interface DecideBatchRequest extends BatchReference {
  decision: BatchDecision;
}

export interface SettleBatchRequest extends AccountingTarget, ClaimedTry {
  syncBatchId: string;
  outcome: BatchOutcome;
}

export interface BatchOutcome {
  kind: "processed" | "not-processed";
  message: string;
}

export interface BatchProgress {
  syncBatchId: string;
  /** `waiting`: not sent; `parked`: an operator is needed; `processed`: done. */
  standing: "waiting" | "parked" | "processed";
  message?: string;
}

export interface SyncBatchOutcome {
  syncBatchId: string;
  /** `service`: as the service answered; `person`: as an operator has decided. */
  saidBy: "service" | "person";
  message: string;
}

export const INVOICE_NUMBER_FIELDS = ["billCode", "billPaymentCode"] as const;
export const SUPPLIER_RULES = ["same-name", "any"] as const;

/** How a bill payment is matched with the supplier invoice that it pays. */
export interface PaymentRule {
  /** The field of a bill payment that holds the supplier's invoice number. */
  invoiceNumberIn: (typeof INVOICE_NUMBER_FIELDS)[number];
  /** Whether the supplier's names must be the same too, letters and digits alone, in any case. */
  supplier: (typeof SUPPLIER_RULES)[number];
  /** Of the supplier invoices, whose document shows none: ISO 4217. Nothing is ever converted. */
  currency: string;
}

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
