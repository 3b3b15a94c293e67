import type { AccountingTarget } from "./accounting-connection.ts";
import type {
  BatchReference,
  DecideBatchRequest,
  KnownBatch,
  PreparedSyncBatch,
  ProcessBatchRequest,
  ProcessBatchResult,
  ProcessSyncBatchInput,
  SettleBatchRequest,
} from "./sync-batch.ts";
import type {
  AwaitItemsRequest,
  BranchResult,
  CallTarget,
  Composed,
  ComposeCreditNoteRequest,
  ComposeSaleRequest,
  ItemsRequest,
  ItemsResult,
  PreparedCreditNote,
  PreparedSaleAnswer,
  Refusal,
  RegisterRequest,
  RegisterResult,
} from "./calls.ts";
import type {
  AwaitDocumentRequest,
  CreateRequest,
  CreateResult,
  CreateSaleRequest,
  CreditNoteRunRequest,
  CreditNoteRunResult,
  DecideDocumentRequest,
  ReadDocumentRequest,
  ReadDocumentResult,
  RecordDocumentRequest,
  RecordedDocument,
  RetryDocumentResult,
} from "./document-calls.ts";
import type {
  BeginCorrectionRequest,
  BeginCorrectionResult,
  CorrectionInput,
  EndCorrectionRequest,
  PreparedCorrection,
  SeeSaleRequest,
  SeeSaleResult,
} from "./correction.ts";
import type { ReadEventsInput, ReadEventsResult } from "./events.ts";
import type { FindSaleInput, FindSaleResult } from "./find-sale.ts";
import type {
  KeepRegistrationsRequest,
  PlanRegistrationsRequest,
  PlanRegistrationsResult,
  PreparedRegisterItems,
  RegisterItemsInput,
  RegisterItemsOutcome,
} from "./item-registration.ts";
import type {
  AcknowledgeBranchRequest,
  AwaitBranchRequest,
  AdjustStockRequest,
  AdjustStockResult,
  DecideMovementRequest,
  DecideMovementResult,
  KnownMovement,
  MovementReference,
  ReadTakenRequest,
  SettleMovementRequest,
  TakenMovement,
  WatchMovementRequest,
  WatchMovementResult,
} from "./movement-calls.ts";
import type {
  DocumentsToReconcileRequest,
  DocumentToReconcile,
  PaymentComparison,
  PreparedReconcile,
  ReconcileDocumentRequest,
  ReconcileDocumentResult,
  ReconcileInput,
  ReconcileOutcome,
  ReconcilePaymentsRequest,
} from "./reconcile.ts";
import type { KeepLinesRequest, KeepLinesResult, RecordAnswer, SaveRecordRequest } from "./records.ts";
import type { AwaitServiceRequest, ServiceWait } from "./service-wait.ts";
import type {
  BillPaymentsHeld,
  BillPaymentsPage,
  BillPaymentsPageRequest,
  BillPaymentsSampleRequest,
  BillPaymentsSampleResult,
  BillPaymentsSync,
  BillPaymentsSyncKind,
  CompareRoundRequest,
  CompleteBillPaymentsRequest,
  CompletePurchasesSync,
  PreparedBillPaymentsSync,
  PreparedPurchasesSync,
  PullPurchasesResult,
  PurchasesHeld,
  PurchasesPage,
  PurchasesPageRequest,
  PurchasesSync,
  PurchasesWindow,
  RoundComparison,
  SyncBillPaymentsInput,
  SyncPurchasesInput,
} from "./synced.ts";
import type { FirstOutcomeRequest } from "./messages.ts";
import type { CreditNoteInput, SaleInput, SaleOutcome } from "./sale.ts";

/** Activities of the main task queue that a run waits for first: each takes milliseconds. */
export interface Preparations {
  /** @param request `reset`: the run carries on an earlier one, after a reset or a restart */
  prepareSale(request: { input: SaleInput; startedAtMs: number; reset?: boolean }): Promise<PreparedSaleAnswer>;
  prepareCreditNote(request: { input: CreditNoteInput; startedAtMs: number }): Promise<PreparedCreditNote>;
  prepareSyncBillPayments(request: { input: SyncBillPaymentsInput }): Promise<PreparedBillPaymentsSync>;
  prepareSyncBatch(request: { input: ProcessSyncBatchInput }): Promise<PreparedSyncBatch>;
  prepareSyncPurchases(request: { input: SyncPurchasesInput }): Promise<PreparedPurchasesSync>;
  prepareRegisterItems(request: { input: RegisterItemsInput }): Promise<PreparedRegisterItems>;
  prepareReconcile(request: { input: ReconcileInput }): Promise<PreparedReconcile>;
  composeSale(request: ComposeSaleRequest): Promise<Composed>;
  composeCreditNote(request: ComposeCreditNoteRequest): Promise<Composed>;
  /**
   * The sale of that number, as the ledger keeps it. Fails for good with `LedgerAway` where the ledger does not answer:
   * somebody waits.
   */
  findSale(request: { input: FindSaleInput }): Promise<FindSaleResult>;
}

/** Activities of the main task queue that look at other runs, or wait. */
export interface MainWaits {
  /**
   * Checks the input of a correction, and that nothing which is known stands against it. Fails for good with
   * `InvalidInput`, `NotFound`, `NotAllowed` or `Conflict`; then nothing was done.
   */
  prepareCorrection(request: { input: CorrectionInput; startedAtMs: number }): Promise<PreparedCorrection>;
  /** What is known of a sale, as an activity that is tried again until that is news. */
  seeSale(request: SeeSaleRequest): Promise<SeeSaleResult>;
  /** The first outcome of a sale or credit note, as an activity that is tried again until there is one. */
  awaitFirstOutcome(request: FirstOutcomeRequest): Promise<SaleOutcome>;
  /**
   * A page of events, waited for a while where there is none. Fails for good with `LedgerAway`, as above, or
   * `CursorLost`.
   */
  readEvents(request: { input: ReadEventsInput }): Promise<ReadEventsResult>;
  /** The credit note's outcome, as an activity that is tried again until its run has ended. */
  awaitCreditNoteRun(request: CreditNoteRunRequest): Promise<CreditNoteRunResult>;
  /**
   * Returns once movements of the connection to named branches are sent: an operator has looked, or the dialect is
   * another one.
   */
  awaitBranch(request: AwaitBranchRequest): Promise<void>;
}

/** Activities of the main task queue: no API call. */
export interface MainActivities extends Preparations, MainWaits, LedgerActivities {}

/** Activities of the main task queue that read and write the ledger. Each is tried again until the ledger is there. */
export interface LedgerActivities {
  /** Returns once the ledger answers. */
  awaitLedger(): Promise<void>;
  /**
   * What became of a try whose activity ended without an answer; one that was never claimed is buried, so that it
   * cannot leave late.
   */
  readMovement(request: MovementReference): Promise<KnownMovement>;
  /** What the sale has taken from stock, in whichever run: a page of it, each movement in one page alone. */
  readTaken(request: ReadTakenRequest): Promise<TakenMovement[]>;
  watchMovement(request: WatchMovementRequest): Promise<WatchMovementResult>;
  decideMovement(request: DecideMovementRequest): Promise<DecideMovementResult>;
  settleMovement(request: SettleMovementRequest): Promise<void>;
  /** Lets movements to named branches go on after an answer that named another branch. */
  acknowledgeBranch(request: AcknowledgeBranchRequest): Promise<void>;
  /** Keeps the id of a document that was made while the ledger was away. */
  recordDocument(request: RecordDocumentRequest): Promise<RecordedDocument | undefined>;
  /** Keeps an operator's decision on a document of which nobody knew whether it exists. */
  decideDocument(request: DecideDocumentRequest): Promise<void>;
  /** Keeps what is known of a document for years. */
  saveRecord(request: SaveRecordRequest): Promise<RecordAnswer>;
  /** Takes the sale, and the corrected sale's number, for one correction. */
  beginCorrection(request: BeginCorrectionRequest): Promise<BeginCorrectionResult>;
  /** Writes down how it ended. Without a corrected sale, both are free for another correction. */
  endCorrection(request: EndCorrectionRequest): Promise<void>;
  /** A page of the documents that were not yet seen final and the same; empty at the end. */
  documentsToReconcile(request: DocumentsToReconcileRequest): Promise<DocumentToReconcile[]>;
  /** Supplier invoices against bill payments, as the ledger has them. */
  reconcilePayments(request: ReconcilePaymentsRequest): Promise<PaymentComparison>;
  /** What stands now. */
  reconcileFindings(target: CallTarget): Promise<ReconcileOutcome["findings"]>;
  /** Without known ground, as before the first full synchronisation, a recent one becomes a full one. */
  beginBillPaymentsSync(sync: BillPaymentsSync): Promise<{ kind: BillPaymentsSyncKind; knownUntilMs?: number }>;
  compareBillPaymentsRound(request: CompareRoundRequest): Promise<RoundComparison>;
  billPaymentsHeld(target: AccountingTarget): Promise<BillPaymentsHeld>;
  completeBillPaymentsSync(request: CompleteBillPaymentsRequest): Promise<BillPaymentsHeld>;
  /**
   * What became of a try whose activity ended without an answer; one that was never claimed is buried, so that it
   * cannot leave late.
   */
  readBatch(request: BatchReference): Promise<KnownBatch>;
  settleBatch(request: SettleBatchRequest): Promise<void>;
  /**
   * Keeps an operator's decision, and says what holds: the service's own, where it was recorded meanwhile, outweighs
   * it.
   */
  decideBatch(request: DecideBatchRequest): Promise<KnownBatch>;
  keepRegistrations(request: KeepRegistrationsRequest): Promise<void>;
  /** What a batch of registrations came to. */
  reportRegistrations(batch: CallTarget & { batchId: string }): Promise<RegisterItemsOutcome>;
  beginPurchasesSync(sync: PurchasesSync): Promise<void>;
  /** How many purchases of the ledger a full synchronisation has not seen. */
  unseenPurchases(sync: PurchasesSync): Promise<number>;
  /** The days of invoices that the ledger holds as open, and that are not open any more. */
  windowsOfChangedPurchases(sync: PurchasesSync): Promise<PurchasesWindow[]>;
  /** Ends it, and counts what the ledger holds. */
  completePurchasesSync(sync: CompletePurchasesSync): Promise<PurchasesHeld>;
}

/** Activities of an accounting connection's task queue: one HTTP request each, at most. */
export interface AccountingActivities {
  /** Reads one page of bill payments into the ledger. */
  keepBillPaymentsPage(request: BillPaymentsPageRequest): Promise<BillPaymentsPage | Refusal>;
  /** Reads the beginning of one status's list, and keeps nothing. */
  sampleBillPayments(request: BillPaymentsSampleRequest): Promise<BillPaymentsSampleResult>;
  processSyncBatch(request: ProcessBatchRequest): Promise<ProcessBatchResult>;
  /** Returns once a call that the service did not take is worth another try. */
  awaitAccounting(request: AccountingTarget & ServiceWait): Promise<void>;
}

/**
 * Activities of an application's two task queues: one HTTP request each, at most. One interface for each risk class.
 */
export interface ComplianceActivities
  extends ComplianceReads, ComplianceWaits, KeyedWrites, ConvergingWrites, UnrepeatableWrites {}

export interface ComplianceReads {
  readItems(request: ItemsRequest): Promise<ItemsResult>;
  readBranch(request: CallTarget & { branch: string }): Promise<BranchResult>;
  readDocument(request: ReadDocumentRequest): Promise<ReadDocumentResult>;
  /** Reads a document whose lines were too many for the workflow, and keeps them in the ledger. */
  keepLines(request: KeepLinesRequest): Promise<KeepLinesResult>;
  /** The next items of a catalogue, or of a list, that are to be registered. */
  planRegistrations(request: PlanRegistrationsRequest): Promise<PlanRegistrationsResult>;
  pullPurchases(request: CallTarget): Promise<PullPurchasesResult>;
  /** Reads one page of purchases into the ledger. */
  keepPurchasesPage(request: PurchasesPageRequest): Promise<PurchasesPage | Refusal>;
  /** Reads a document, and holds what the ledger keeps of it against it. */
  reconcileDocument(request: ReconcileDocumentRequest): Promise<ReconcileDocumentResult>;
}

export interface ConvergingWrites {
  registerItem(request: RegisterRequest): Promise<RegisterResult>;
  retryDocument(request: ReadDocumentRequest): Promise<RetryDocumentResult>;
}

export interface ComplianceWaits {
  awaitItems(request: AwaitItemsRequest): Promise<ItemsResult>;
  awaitDocument(request: AwaitDocumentRequest): Promise<ReadDocumentResult>;
  /** Returns once a call that the service did not take is worth another try. */
  awaitService(request: AwaitServiceRequest): Promise<void>;
}

export interface KeyedWrites {
  createSale(request: CreateSaleRequest): Promise<CreateResult>;
  createCreditNote(request: CreateRequest): Promise<CreateResult>;
}

export interface UnrepeatableWrites {
  /** Where its key is not trusted. */
  createSale: KeyedWrites["createSale"];
  adjustStock(request: AdjustStockRequest): Promise<AdjustStockResult>;
}
