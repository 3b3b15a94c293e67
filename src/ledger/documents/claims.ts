import type { NumberToClaim, TakingExecution } from "../../contract/index.ts";
import type { UnderWay } from "../claim-answers.ts";

/** The interface of the ledger for documents: types alone. */

/** An operator's decision about a document that is in doubt. */
export interface DocumentDecision {
  decision: { saleId: string } | "not-created";
  note: string;
  by?: string | undefined;
  atMs: number;
}

export interface BeginRequest extends TakingExecution {
  workflowId: string;
  /** One intent for a document, with one idempotency key; a later intent has a higher number. */
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
  /** Workflow id and run id, for people. */
  holder: string;
  /** Taken for its sale for ever, together with the claim on the document. */
  number?: NumberToClaim | undefined;
}

/** Whose a number is: the sale, and who took it. */
export interface NumberOwner extends Pick<NumberToClaim, "saleId" | "sale"> {
  holder: string;
}

export type BeginAnswer =
  /** Send `request`, which is the first one of this intent and may be another than was given. */
  | {
      kind: "send";
      request: unknown;
      /** Since when something of this intent may be out without an answer that settled it; now for the first. */
      firstSentAtMs: number;
      first: boolean;
    }
  | { kind: "known"; documentId: string; decision?: DocumentDecision }
  /** That intent is settled and made none: go on with `intent + 1`. */
  | { kind: "behind"; intent: number; decision?: DocumentDecision }
  /** Nothing of this workflow exists or is in doubt, and nothing was begun: the number is another sale's. */
  | ({ kind: "number-taken" } & NumberOwner)
  | UnderWay
  /** It may have been sent, and is not to be sent again. */
  | { kind: "doubtful"; firstSentAtMs: number }
  /** An earlier try that is in doubt had other content, or another intent; or one of the two is sent without a key. */
  | { kind: "different"; content: string; request: unknown; firstSentAtMs: number };

export type DocumentOutcome =
  | { kind: "document"; documentId: string }
  /** Settled: this intent made none. */
  | { kind: "nothing" }
  /** This attempt did not leave, or was refused before it was processed, and no earlier one is in doubt. */
  | { kind: "unsent" };

export interface DocumentState {
  intent: number;
  documentId?: string;
  /** Only while the intent is in doubt. */
  firstSentAtMs?: number;
  decision?: DocumentDecision;
}

export interface DocumentEvent {
  atMs: number;
  intent: number;
  what: string;
  detail?: unknown;
}

/** Two documents under one intent: the one that counts, and another one that somebody was told of later. */
export interface SecondDocument {
  /** That of the sale or credit note. */
  workflowId: string;
  recorded: string;
  reported: string;
  /** When it was reported last (Unix milliseconds). */
  atMs: number;
}

/**
 * Claims on documents, so that every attempt of an intent, also of another run, sends the same bytes under the same key
 * (architecture, decisions 4, 5 and 10).
 *
 * Every function throws LedgerUnavailableError when the ledger cannot answer, and may then be called again as it was.
 */
export interface DocumentClaims {
  /** Before sending. @throws LedgerError also when the intent has another idempotency key */
  begin(request: BeginRequest): Promise<BeginAnswer>;
  /** The execution has ended without a word for the claim, and sends no more. */
  ended(request: Pick<BeginRequest, "workflowId" | "intent" | "execution">): Promise<void>;
  /**
   * Records what came of it. Idempotent. A document once recorded stays; `contradicted`: it is another one than was
   * recorded, which the events tell.
   */
  settle(request: {
    workflowId: string;
    intent: number;
    outcome: DocumentOutcome;
    nowMs: number;
  }): Promise<"settled" | "contradicted">;
  /** An operator's decision, kept with who and why. A document that is known wins over it. */
  decide(request: {
    workflowId: string;
    intent: number;
    decision: { saleId: string } | "not-created";
    note: string;
    by?: string | undefined;
    nowMs: number;
  }): Promise<void>;
  read(workflowId: string): Promise<DocumentState | undefined>;
  /** The documents that were reported within so many days where another one was recorded, the latest first. */
  contradicted(days: number): Promise<SecondDocument[]>;
  /** All that happened to the workflow's documents, oldest first. */
  history(workflowId: string): Promise<DocumentEvent[]>;
}
