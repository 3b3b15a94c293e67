import type { Attention, Decision } from "./attention.ts";
import type { AttentionCode, Stage } from "./names.ts";
import type { CallTarget, ComposedRequest, ConnectionProfile } from "./connection.ts";
import type { ComposedBody, Deferred, KnownItem, OperatorDecision, Refusal } from "./calls.ts";
import type { SaleDocument } from "./documents.ts";
import type { Differences, ExpectedDocument } from "./matching.ts";
import type { Correction, DatedRefund, KeptCorrection } from "./correction.ts";
import type { InputChecks } from "./input-checks.ts";
import type { Refund, SaleFields, SaleOptions } from "./schema/sale.ts";
import type { ClosedRun } from "./messages.ts";
import type { SaleContent } from "./sale-content.ts";
import type { InAll } from "./payload-bounds.ts";
import type { StockMovement } from "./stock-movement.ts";

/** What activities about documents take and give. */

/** As `prepareSale` answers it, lines that its input has are not repeated. */
export interface PreparedSale {
  profile: ConnectionProfile;
  sale: SaleFields & { saleDate: string };
  fingerprint: string;
  refundWindowMs: number;
  /** If a refund that looks wrong is refused: what its date is checked for. */
  refundChecks?: InputChecks;
  /** Of its lines, if the catalogue of the process that prepared it has them all. */
  items?: KnownItem[];
  /** Its create request, if nothing has to be found out or registered first. */
  composed?: ComposedBody;
  /** The sale ended under an earlier run, which Temporal may have forgotten: nothing is left but a refund. */
  finished?: FinishedSale;
  earlier?: EarlierRun;
  isReset?: true;
}

/** What is known of the runs before, which the run itself has still to find out. */
export interface EarlierRun {
  /** Whether a create request may have left. */
  sent: boolean;
  signed: boolean;
  /** As the row has it: this run has still to find it. */
  document?: SaleDocument;
  decisions?: Decision[];
  /** Why the sale is to be cancelled, if it can be; and so the credit note. */
  cancelRequested?: string;
  creditNoteCancelRequested?: string;
  /** Whose credit note was issued, or is under way. */
  refund?: Refund;
}

export interface FinishedSale {
  stage: Stage;
  document: SaleDocument | null;
  creditNote: SaleDocument | null;
  refund?: Refund | undefined;
  correction?: Correction | undefined;
  movements: StockMovement[];
  inAll?: InAll | undefined;
}

/**
 * An execution that ended without sending, and could not see whether the ledger had taken the document's claim for it:
 * if it was the first to take it, nothing of that intent has left.
 */
export interface UnsentCreation {
  intent: number;
  execution: string;
  /** By the activity's clock (Unix milliseconds). */
  takenAtMs: number;
}

export interface CreateRequest extends CallTarget {
  request: ComposedRequest;
  idempotencyKey: string;
  /** Which intent of the document it is, from 1. */
  intent: number;
  /** What tells the document's content from another one's: the claim of an intent is for this content alone. */
  content: string;
  of: AnsweredRow;
  expected: ExpectedDocument;
  /** When the workflow first asked for this intent, by its clock (Unix milliseconds). */
  sinceMs: number;
  /** Of this run. */
  unsent?: UnsentCreation[];
}

export interface CreateSaleRequest extends CreateRequest {
  /** As the workflow's profile has it, from its first try to its last. */
  saleKey: ConnectionProfile["saleKey"];
}

/** Whether a request of this intent may have left, its answer unknown. Absent: what was known before holds. */
interface InDoubt {
  inDoubt?: boolean;
}

export type CreateResult =
  | ({ kind: "document"; document: SaleDocument; replayed: boolean } & SettledAnswer)
  /** The answer names the document, and says nothing else that can be read. */
  | ({ kind: "named"; saleId: string; message: string } & SettledAnswer)
  /** 422. With `document` or `saleId` it exists at the API, in whatever status. */
  | ({
      kind: "rejected";
      document?: SaleDocument | undefined;
      saleId?: string | undefined;
      message: string;
      repeatable: boolean;
    } & SettledAnswer)
  | { kind: "already-credited"; creditNoteId?: string | undefined; message: string }
  /** Nothing of this intent was sent, and nothing will be: its number is another sale's, or its sale has another one. */
  | { kind: "number-taken"; isOwn?: true; message: string }
  /** Nothing exists under this intent, as an earlier run or an operator has settled: the next one is to be used. */
  | { kind: "superseded"; intent: number; decision?: OperatorDecision | undefined }
  /** Certainly not sent, or refused by the quota; the caller tries again, since its activity is tried once. */
  | (Deferred & InDoubt & { unsent?: UnsentCreation })
  /** The answer is lost, and a repetition would not be safe: no trusted key, or one whose life is over. */
  | { kind: "unknown"; message: string; evidence: Record<string, unknown> }
  | (Refusal & InDoubt);

export interface OwnDocumentRequest extends CallTarget {
  saleId: string;
  /** The row that the answer belongs to. */
  of: AnsweredRow;
}

export interface ReadDocumentRequest extends CallTarget {
  saleId: string;
  of?: AnsweredRow | undefined;
  /** What the document must be like; default: whatever it is like. */
  expected?: ExpectedDocument | undefined;
  /** It may be somebody else's: its row has the answer only if it is as expected. */
  mayBeAnothers?: true;
}

export type ReadDocumentResult = ({ kind: "document"; document: SaleDocument } & SettledAnswer) | Refusal;

/** Tried again until the document is not what it was. */
export interface AwaitDocumentRequest extends ReadDocumentRequest {
  /** When the wait began (Unix milliseconds): the pauses grow with its age. */
  sinceMs: number;
  firstPollMs: number;
  /** When the workflow read the document last, if it has (Unix milliseconds): the first look comes a pause later. */
  readAtMs?: number | undefined;
  /** A strange status that was shown, else the last one. After a strange one only a final one is news. */
  knownStatus: string;
}

export type RetryDocumentResult =
  | ({ kind: "document"; document: SaleDocument } & SettledAnswer)
  | ({ kind: "rejected"; document?: SaleDocument | undefined; message: string } & SettledAnswer)
  /** Lost: read the document before another try. */
  | { kind: "converging"; message: string }
  | Refusal;

export interface SettleDocumentRequest extends CallTarget {
  of: DocumentRow;
  intent: number;
  documentId: string;
}

export interface DecideDocumentRequest extends CallTarget, OperatorDecision {
  of: DocumentRow;
  intent: number;
  decision: { saleId: string } | "not-created";
}

export interface OpenCreditNoteRequest extends CallTarget {
  /** The sale that it reverses: the document's id. */
  saleId: string;
  saleDate?: string | null | undefined;
  refund: DatedRefund;
  /** Temporal gives a run that was reset the refunds of the run before again. */
  reset: boolean;
}

export interface OpenedCreditNote {
  /** Whether its create request may have left. */
  sent: boolean;
  decisions?: Decision[];
  /** Why it is to be given up, if it can be. */
  cancelRequested?: string;
  /** Another run has written the row: it has to be told what this one knows. */
  otherRun?: true;
  /** It is that of a refund which Temporal has given again, and an operator had given it up. */
  givenUp?: true;
  /** It was sent already, for this refund, which puts another sale, or none, in place of the credited one. */
  otherRefund?: Refund;
}

export interface DocumentRow {
  type: "sale" | "credit_note";
  /** The number that was asked for. */
  number: string;
  /** The sale that a credit note reverses: the row of another sale's credit note is not this one. */
  originalSaleId?: string | undefined;
}

export interface DocumentRecord extends DocumentRow {
  stage: Stage;
  /** The start of the run that opened the row (Unix milliseconds). */
  startedAtMs: number;
  /** The run failed, since what was asked of it was refused: there will be no document. */
  failed?: true | undefined;
  /** The run ended without an outcome. Written by the worker that found it so: a run cannot tell this of itself. */
  closed?: ClosedRun | undefined;
  /** Whether a create request may have left. */
  numberTaken: boolean;
  /** Of the sale, or of the return, as asked for: `YYYY-MM-DD`. */
  date: string;
  fingerprint?: string | undefined;
  content?: SaleContent | undefined;
  options?: SaleOptions | undefined;
  /** The refund as it was asked for: on a credit note, and on a sale whose own workflow was asked for it. */
  refund?: Refund | undefined;
  /** Why it is to be cancelled, or given up, if that was asked for. */
  cancelRequested?: string | undefined;
  /** On a sale: why its credit note is to be given up, if that was asked for before it began. */
  creditNoteCancelRequested?: string | undefined;
  /** On a sale that is corrected, or whose correction was given up: by which one, and how that stands. */
  correction?: KeptCorrection | undefined;
  replaces?: string | undefined;
  document: SaleDocument | null;
  expectedTotal?: number | undefined;
  /** How many movements the sale is to make; absent while that is not known. */
  movementsPlanned?: number | undefined;
  /** Those that stand; of very many the first. */
  attentions: Attention[];
}

export type AnsweredRow = DocumentRow & Pick<DocumentRecord, "movementsPlanned" | "expectedTotal">;

export interface SettledAnswer extends Differences {
  /** The ledger was away: the workflow has it written later. */
  unsettled?: true;
  /** The sale is signed, and another run has given back goods that it took. */
  givenBack?: true;
  /** The row says what another run knew: this one has to tell what it knows. */
  otherRun?: true;
}

/** Decisions and changes are sent once, however often a note is. */
export interface RunNote
  extends
    DocumentRow,
    Pick<
      DocumentRecord,
      "stage" | "failed" | "numberTaken" | "cancelRequested" | "creditNoteCancelRequested" | "correction" | "attentions"
    > {
  /** When it was so, by the workflow's clock (Unix milliseconds), and which note of its run it is. */
  asOfMs: number;
  sequence: number;
  /** Null: it was given up. */
  refund?: Refund | null | undefined;
  /** Since the last note; and so the decisions. */
  attentionChanges: AttentionChange[];
  decisions: Decision[];
}

export interface AttentionChange {
  change: "raised" | "cleared";
  code: AttentionCode;
  subject?: string;
  message: string;
  evidence?: Record<string, unknown>;
  sinceMs: number;
  atMs: number;
}

export interface NoteRunRequest extends CallTarget {
  note: RunNote;
}

/** What is too many for one payload is left out, as in the `state` query. */
export interface KeptDocument extends Omit<
  DocumentRecord,
  "type" | "content" | "options" | "movementsPlanned" | "expectedTotal"
> {
  movements: StockMovement[];
  decisions: Decision[];
  inAll?: InAll;
  /** When it was last changed (Unix milliseconds). */
  keptAtMs: number;
  keptBy: { workflowId: string; runId: string };
}

export interface FoundSale extends KeptDocument {
  isThrough: boolean;
  /** The credit note that reverses it: the signed one, else the one that the ledger heard of last. */
  creditNote: KeptDocument | null;
}

export interface FindSaleResult {
  found: FoundSale | null;
  /** Where the number is a credit note's: that of the sale that it reverses. */
  creditNoteOf?: string;
}
