import type {
  AdjustStockRequest,
  AdjustStockResult,
  AwaitDocumentRequest,
  AwaitItemsRequest,
  BranchResult,
  CallTarget,
  Composed,
  ComposeCreditNoteRequest,
  ComposeSaleRequest,
  CreateRequest,
  CreateResult,
  CreditNoteRunRequest,
  CreditNoteRunResult,
  ItemsRequest,
  ItemsResult,
  PreparedCreditNote,
  PreparedSale,
  ReadDocumentRequest,
  ReadDocumentResult,
  RegisterRequest,
  RegisterResult,
  RetryDocumentResult,
} from "./calls.ts";
import type { ConnectionProfile } from "./connection.ts";
import type { CreditNoteInput, SaleInput } from "./sale.ts";

/** Activities of the main task queue: no API call. */
export interface MainActivities {
  prepareSale(request: { input: SaleInput; startedAtMs: number }): Promise<PreparedSale>;
  prepareCreditNote(request: { input: CreditNoteInput; startedAtMs: number }): Promise<PreparedCreditNote>;
  composeSale(request: ComposeSaleRequest): Promise<Composed>;
  composeCreditNote(request: ComposeCreditNoteRequest): Promise<Composed>;
  /** The items out of the catalogue of this process; undefined where it does not know them, or is too old. */
  itemsInCatalogue(request: ItemsRequest): Promise<ItemsResult | undefined>;
  /** The credit note's outcome, as an activity that is tried again until its run has ended. */
  awaitCreditNoteRun(request: CreditNoteRunRequest): Promise<CreditNoteRunResult>;
}

/** Activities of an application's two task queues: one HTTP request each, at most. */
export interface ComplianceActivities {
  readItems(request: ItemsRequest): Promise<ItemsResult>;
  awaitItems(request: AwaitItemsRequest): Promise<ItemsResult>;
  readBranch(request: CallTarget & { branch: string }): Promise<BranchResult>;
  registerItem(request: RegisterRequest): Promise<RegisterResult>;
  createSale(request: CreateRequest): Promise<CreateResult>;
  createCreditNote(request: CreateRequest): Promise<CreateResult>;
  readDocument(request: ReadDocumentRequest): Promise<ReadDocumentResult>;
  awaitDocument(request: AwaitDocumentRequest): Promise<ReadDocumentResult>;
  retryDocument(request: ReadDocumentRequest): Promise<RetryDocumentResult>;
  adjustStock(request: AdjustStockRequest): Promise<AdjustStockResult>;
}

/** Where a workflow's calls go. */
export type CallRoute = Pick<ConnectionProfile, "application" | "businessId" | "keyReach" | "timings">;
