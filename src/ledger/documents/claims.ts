import type { DocumentRow, TakingExecution } from "../../contract/index.ts";
import type { UnderWay } from "../claims/answers.ts";
import type { Business, Writer } from "../events/chain.ts";
import type { DocumentDecision } from "./claim-row.ts";
import type { Kept } from "./row.ts";
import type { Answer } from "./write.ts";

/** What is asked of a claim, and what it answers: types alone. */

/** A document's row, in which its claim is. */
export interface DocumentKey extends Business {
  of: DocumentRow;
}

export interface TakeDocumentRequest extends DocumentKey, TakingExecution {
  /** One intent for a document, with one idempotency key; a later intent has a higher number, from 1. */
  intent: number;
  /** Undefined: it is sent without one. */
  idempotencyKey: string | undefined;
  /** For so long after it was first sent it may be sent again under its key (milliseconds); 0: never. */
  repeatableForMs: number;
  /** A fingerprint of what the document says. */
  content: string;
  /** What would be sent, as JSON. */
  request: unknown;
  nowMs: number;
  writer: Writer;
}

/** Whose the number of a credit note is: the sale that it reverses, and who took it. */
export interface NumberOwner {
  saleId: string;
  /** The sale's own number, where the ledger has that sale. */
  sale?: string | undefined;
  /** Workflow id and run id, for people. */
  holder: string;
}

export type TakeDocumentAnswer =
  /** Send `request`, which is the first one of this intent and may be another than was given. */
  | {
      kind: "send";
      request: unknown;
      /** Since when something of this intent may be out without an answer that settled it; now for the first. */
      firstSentAtMs: number;
      first: boolean;
      /** The row as it was taken: who settles it gives this back. */
      seen?: Kept | undefined;
    }
  | { kind: "known"; documentId: string; decision?: DocumentDecision }
  /** That intent is settled and made none: go on with `intent + 1`. */
  | { kind: "behind"; intent: number; decision?: DocumentDecision }
  /** Nothing was taken: the number is that of another sale's credit note. */
  | ({ kind: "number-taken" } & NumberOwner)
  /** Nothing was taken: the sale has another credit note, which may be signed. */
  | { kind: "credited-by-another"; number: string }
  | UnderWay
  /** It may have been sent, and is not to be sent again. */
  | { kind: "doubtful"; firstSentAtMs: number }
  /** Nobody knows what an earlier run has sent. */
  | { kind: "not-known" }
  /** An earlier try that is in doubt had other content, or another intent; or one of the two is sent without a key. */
  | { kind: "different"; content: string; request: unknown; firstSentAtMs: number };

export type DocumentOutcome =
  | { kind: "document"; documentId: string }
  /** Settled: this intent made none. */
  | { kind: "nothing" }
  /**
   * This attempt did not leave, or was refused before it was processed, and no earlier one is in doubt. `execution`: that
   * is known of this one alone; absent: of every one.
   */
  | { kind: "unsent"; execution?: string | undefined };

export interface SettleDocumentRequest extends DocumentKey {
  intent: number;
  outcome: DocumentOutcome;
  writer: Writer;
}

/** The same with what the service answered, which is written in the same statement. */
export interface SettleAnswerRequest extends SettleDocumentRequest {
  answer: Answer;
  /** How many movements the sale makes, where the request brings it into being. */
  movementsPlanned?: number | undefined;
  /** The row as it was taken. */
  seen?: Kept | undefined;
}

export interface DecideDocumentRequest extends DocumentKey {
  intent: number;
  decision: { saleId: string } | "not-created";
  note: string;
  by?: string | undefined;
  writer: Writer;
  nowMs: number;
}

export interface DocumentState {
  intent: number;
  documentId?: string;
  /** Only while the intent is in doubt. */
  firstSentAtMs?: number;
  decision?: DocumentDecision;
}

/** Two documents under one intent: the one that counts, and another one that somebody was told of later. */
export interface SecondDocument {
  /** Of the sale, or of the credit note's sale. */
  workflowId: string;
  recorded: string;
  reported: string;
  /** When it was reported last (Unix milliseconds). */
  atMs: number;
}
