import type * as calls from "./calls.ts";
import type { AccountingTarget, CallTarget } from "./connection.ts";
import type * as replacement from "./correction.ts";
import type * as documents from "./document-calls.ts";
import type { ReadEventsResult } from "./events.ts";
import type * as jobs from "./jobs.ts";
import type { FirstOutcomeRequest, SaleOutcome } from "./messages.ts";
import type * as inputs from "./schema/job-inputs.ts";
import type { FindSaleInput, SaleStart } from "./schema/sale.ts";
import type { AwaitServiceRequest, ServiceWait } from "./service-trouble.ts";
import type * as movements from "./stock-movement.ts";
import type * as synced from "./synced.ts";

/** Activities of the main task queue that a run waits for first: each takes milliseconds. */
export interface Preparations {
  /**
   * @param request `reset`: the run carries on an earlier one, after a reset or a restart; `sent`: that one may have sent
   *   its create request
   */
  prepareSale(request: {
    input: SaleStart;
    startedAtMs: number;
    reset?: boolean;
    /** Given back: the answer is in the history, and a replay outside the server does not know the run's id. */
    isReset?: boolean;
    sent?: boolean;
  }): Promise<documents.PreparedSale>;
  openCreditNote(request: documents.OpenCreditNoteRequest): Promise<documents.OpenedCreditNote>;
  /** Checks the corrected sale, and opens its row, which reserves its number. */
  reserveReplacement(request: replacement.ReserveReplacementRequest): Promise<replacement.ReserveReplacementResult>;
  prepareSyncBillPayments(request: { input: inputs.SyncBillPaymentsInput }): Promise<synced.PreparedBillPaymentsSync>;
  prepareSyncBatch(request: { input: inputs.ProcessSyncBatchInput }): Promise<jobs.PreparedSyncBatch>;
  prepareSyncPurchases(request: { input: inputs.SyncPurchasesInput }): Promise<synced.PreparedPurchasesSync>;
  prepareRegisterItems(request: { input: inputs.RegisterItemsInput }): Promise<jobs.PreparedRegisterItems>;
  prepareReconcile(request: { input: inputs.ReconcileInput }): Promise<jobs.PreparedReconcile>;
  composeSale(request: calls.ComposeSaleRequest): Promise<calls.Composed>;
  composeCreditNote(request: calls.ComposeCreditNoteRequest): Promise<calls.Composed>;
  /** Fails for good with `LedgerAway` where the ledger does not answer: somebody waits. */
  findSale(request: { input: FindSaleInput }): Promise<documents.FindSaleResult>;
}

/** Activities of the main task queue that look at other runs, or wait. */
export interface MainWaits {
  /** Tried again until there is news of the corrected sale. */
  awaitReplacement(request: replacement.AwaitReplacementRequest): Promise<replacement.AwaitedReplacement>;
  /** Tried again until the sale has an outcome. */
  awaitFirstOutcome(request: FirstOutcomeRequest): Promise<SaleOutcome>;
  /** Waits a while for an event. Fails for good with `LedgerAway`, as above, or `CursorLost`. */
  readEvents(request: { input: inputs.ReadEventsInput }): Promise<ReadEventsResult>;
  /** Returns once movements to named branches are sent: an operator has looked, or the dialect has changed. */
  awaitBranch(request: movements.AwaitBranchRequest): Promise<void>;
}

/** Activities of the main task queue: no API call. */
export interface MainActivities extends Preparations, MainWaits, LedgerActivities {}

/** Activities of the main task queue that read and write the ledger. Each is tried again until the ledger is there. */
export interface LedgerActivities {
  /** Returns once the ledger answers, and takes writes. */
  awaitLedger(): Promise<void>;
  /**
   * What became of a try whose activity ended without an answer; one that was never claimed is closed, so that it
   * cannot leave late.
   */
  readMovement(request: movements.MovementReference): Promise<movements.KnownMovement>;
  /** Of all runs: a page, each movement in one page alone. */
  readTaken(request: movements.ReadTakenRequest): Promise<movements.TakenMovement[]>;
  watchMovement(request: movements.WatchMovementRequest): Promise<movements.WatchMovementResult>;
  watchDecision(request: movements.WatchDecisionRequest): Promise<movements.ContradictedDecision>;
  /**
   * Keeps an operator's decision, and says what holds: the service's own outcome, an earlier decision, or a newer try,
   * of which this one says nothing, outweigh it.
   */
  decideMovement(request: movements.DecideMovementRequest): Promise<movements.KnownMovement>;
  settleMovement(request: movements.SettleMovementRequest): Promise<void>;
  /** Lets movements to named branches go on after an answer that named another branch. */
  acknowledgeBranch(request: movements.AcknowledgeBranchRequest): Promise<void>;
  /** Keeps the id of a document whose answer came while the ledger was away. */
  settleDocument(request: documents.SettleDocumentRequest): Promise<void>;
  /**
   * Whether something of the document exists, or may exist, whichever run sent it. If not, what was asked for by now is
   * not sent any more: its sale is given up.
   */
  isDocumentSent(
    request: CallTarget & { of: documents.DocumentRow; unsent?: documents.UnsentCreation[] },
  ): Promise<boolean>;
  decideDocument(request: documents.DecideDocumentRequest): Promise<void>;
  noteRun(request: documents.NoteRunRequest): Promise<void>;
  releaseReplacement(request: replacement.ReleaseReplacementRequest): Promise<void>;
  /** A page of the documents that were not yet seen final and the same; empty at the end. */
  documentsToReconcile(request: jobs.DocumentsToReconcileRequest): Promise<jobs.DocumentToReconcile[]>;
  /** Supplier invoices against bill payments, as the ledger has them. */
  reconcilePayments(request: jobs.ReconcilePaymentsRequest): Promise<jobs.PaymentComparison>;
  /** What stands now. `settled`: how many documents are not read again until they change. */
  reconcileFindings(target: CallTarget): Promise<jobs.ReconcileFindings & { settled?: number }>;
  beginSync(sync: synced.Sync): Promise<synced.BegunSync>;
  countSync(request: synced.Sync & { sinceMs: number }): Promise<synced.CountedSync>;
  /** The days of invoices that the ledger holds as open, and that were not among what is open since an instant. */
  daysOfChangedPurchases(request: synced.Sync & { sinceMs: number }): Promise<synced.Pass[]>;
  completePurchasesSync(request: synced.CompleteSyncRequest): Promise<synced.PurchasesHeld>;
  completeBillPaymentsSync(request: synced.CompleteSyncRequest): Promise<synced.BillPaymentsHeld>;
  /**
   * What became of a try whose activity ended without an answer; one that was never claimed is closed, so that it
   * cannot leave late.
   */
  readBatch(request: jobs.BatchReference): Promise<jobs.KnownBatch>;
  settleBatch(request: jobs.SettleBatchRequest): Promise<void>;
  /** As `decideMovement`. */
  decideBatch(request: jobs.DecideBatchRequest): Promise<jobs.KnownBatch>;
  keepRegistrations(request: jobs.KeepRegistrationsRequest): Promise<void>;
  reportRegistrations(batch: CallTarget & { batchId: string }): Promise<jobs.RegisterItemsOutcome>;
}

/** Activities of an accounting connection's task queue: one HTTP request each, at most. */
export interface AccountingActivities {
  keepBillPaymentsPage(request: AccountingTarget & synced.PageRequest): Promise<synced.KeptPageResult | calls.Refusal>;
  /** Reads the beginning of one status's list, and keeps nothing. */
  sampleBillPayments(request: synced.BillPaymentsSampleRequest): Promise<synced.BillPaymentsSampleResult>;
  processSyncBatch(request: jobs.ProcessBatchRequest): Promise<jobs.ProcessBatchResult | calls.CallUnderWay>;
  /** Returns once a call that the service did not take is worth another try. */
  awaitAccounting(request: AccountingTarget & ServiceWait): Promise<void>;
}

/**
 * Activities of an application's two task queues: one HTTP request each, at most. One interface for each risk class.
 */
export interface ComplianceActivities
  extends ComplianceReads, ComplianceWaits, KeyedWrites, ConvergingWrites, UnrepeatableWrites {}

export interface ComplianceReads {
  readItems(request: calls.ItemsRequest): Promise<calls.ItemsResult>;
  readBranch(request: CallTarget & { branch: string }): Promise<calls.BranchResult>;
  readDocument(request: documents.ReadDocumentRequest): Promise<documents.ReadDocumentResult>;
  /** Reads a document whose answer came while the ledger was away, and writes it into its row. */
  keepDocument(request: documents.OwnDocumentRequest): Promise<documents.ReadDocumentResult>;
  /** The next items of a catalogue, or of a list, that are to be registered. */
  planRegistrations(request: jobs.PlanRegistrationsRequest): Promise<jobs.PlanRegistrationsResult>;
  pullPurchases(request: CallTarget): Promise<synced.PullPurchasesResult>;
  keepPurchasesPage(request: CallTarget & synced.PageRequest): Promise<synced.KeptPageResult | calls.Refusal>;
  reconcileDocument(request: jobs.ReconcileDocumentRequest): Promise<jobs.ReconcileDocumentResult>;
}

export interface ConvergingWrites {
  registerItem(request: calls.RegisterRequest): Promise<calls.RegisterResult>;
  retryDocument(request: documents.OwnDocumentRequest): Promise<documents.RetryDocumentResult>;
}

export interface ComplianceWaits {
  awaitItems(request: calls.AwaitItemsRequest): Promise<calls.ItemsResult>;
  awaitDocument(request: documents.AwaitDocumentRequest): Promise<documents.ReadDocumentResult>;
  /** Returns once a call that the service did not take is worth another try. */
  awaitService(request: AwaitServiceRequest): Promise<void>;
}

export interface KeyedWrites {
  createSale(request: documents.CreateSaleRequest): Promise<documents.CreateResult>;
  createCreditNote(request: documents.CreateRequest): Promise<documents.CreateResult>;
}

export interface UnrepeatableWrites {
  /** If its key is not trusted. */
  createSale: KeyedWrites["createSale"];
  adjustStock(request: movements.AdjustStockRequest): Promise<movements.AdjustStockResult | calls.CallUnderWay>;
}
