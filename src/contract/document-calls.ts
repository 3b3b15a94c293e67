import type { Decision } from "./attention.ts";
import type { CallTarget, ComposedRequest, ConnectionProfile } from "./connection.ts";
import type { Deferred, OperatorDecision, Refusal } from "./calls.ts";
import type { SaleDocument } from "./documents.ts";
import type { ExpectedDocument } from "./matching.ts";
import type { AnsweredRow, DocumentRow, SettledAnswer } from "./records.ts";
import type { DatedRefund } from "./sale.ts";
import type { Refund } from "./schema/sale.ts";

/**
 * What the activities take and give that bring a document into being, that read it, and that keep what is known of it.
 */

export interface CreateRequest extends CallTarget {
  request: ComposedRequest;
  idempotencyKey: string;
  /** Which intent of the document it is, from 1. */
  intent: number;
  /** What tells the document's content from another one's: the claim of an intent is for this content alone. */
  content: string;
  /** The row that its claim is in, and that the answer belongs to. */
  of: AnsweredRow;
  /** What the document must be like. */
  expected: ExpectedDocument;
}

export interface CreateSaleRequest extends CreateRequest {
  /** As the workflow's profile has it, from its first try to its last. */
  saleKey: ConnectionProfile["saleKey"];
}

/**
 * Whether a request of this intent may have left of which the answer does not say what became. Absent: its claim was not
 * read, and what was known before holds.
 */
interface InDoubt {
  inDoubt?: boolean;
}

/** What a create request came to. */
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
      /** Whether the same request may be sent once more. */
      repeatable: boolean;
    } & SettledAnswer)
  | { kind: "already-credited"; creditNoteId?: string | undefined; message: string }
  /** Nothing of this intent was sent, and nothing will be: its number is another sale's, or its sale has another one. */
  | { kind: "number-taken"; isOwn?: true; message: string }
  /**
   * An earlier run has settled that nothing exists under this intent, or an operator has: the next one is to be used.
   */
  | { kind: "superseded"; intent: number; decision?: OperatorDecision | undefined }
  /** Certainly not sent, or refused by the quota; the caller tries again, since its activity is tried once. */
  | (Deferred & InDoubt)
  /** The answer is lost, and a repetition would not be safe: no trusted key, or one whose life is over. */
  | { kind: "unknown"; message: string; evidence: Record<string, unknown> }
  | (Refusal & InDoubt);

/** For a call about a document that the run knows to be its own. */
export interface OwnDocumentRequest extends CallTarget {
  saleId: string;
  /** The row that the answer belongs to. */
  of: AnsweredRow;
}

export interface ReadDocumentRequest extends CallTarget {
  saleId: string;
  /** The row that the answer belongs to; absent where it belongs to none. */
  of?: AnsweredRow | undefined;
  /** What the document must be like; default: whatever it is like. */
  expected?: ExpectedDocument | undefined;
  /** It may be somebody else's: its row has the answer only where it is as expected. */
  mayBeAnothers?: true;
}

export type ReadDocumentResult = ({ kind: "document"; document: SaleDocument } & SettledAnswer) | Refusal;

/** Waits, as an activity that is tried again, until the document is not what it was. */
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

/** A document whose answer came while the ledger was away. */
export interface SettleDocumentRequest extends CallTarget {
  of: DocumentRow;
  intent: number;
  documentId: string;
}

export interface DecideDocumentRequest extends CallTarget {
  of: DocumentRow;
  intent: number;
  decision: { saleId: string } | "not-created";
  word: OperatorDecision;
}

/** Opens the row of a credit note, and asks what the runs before have done. */
export interface OpenCreditNoteRequest extends CallTarget {
  /** The sale that it reverses: the document's id. */
  saleId: string;
  /** Its date. */
  saleDate?: string | null | undefined;
  refund: DatedRefund;
  /** Temporal gives a run that was reset the refunds of the run before again. */
  reset: boolean;
}

/** What is known of a credit note from the runs before. */
export interface OpenedCreditNote {
  /** Whether its create request may have left. */
  sent: boolean;
  /** What operators decided on it. */
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
