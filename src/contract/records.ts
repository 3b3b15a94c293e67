import type { Attention, AttentionCode, Decision } from "./attention.ts";
import type { CallTarget, Refusal } from "./calls.ts";
import type { ClosedRun } from "./closed-run.ts";
import type { SaleDocument } from "./documents.ts";
import type { SaleContent } from "./fingerprint.ts";
import type { Refund } from "./sale.ts";
import type { Stage } from "./stages.ts";
import type { StockMovement } from "./stock-movement.ts";

/** All that the ledger keeps of a sale or a credit note, as its workflow knew it at one moment. */
export interface DocumentRecord {
  type: "sale" | "credit_note";
  /** The number that was asked for. */
  number: string;
  /**
   * When it was so, by the workflow's clock (Unix milliseconds), and which record of its run it is: an attempt that
   * comes late must not put an earlier state over a later one.
   */
  asOfMs: number;
  sequence: number;
  stage: Stage;
  /** The run's start (Unix milliseconds). */
  startedAtMs: number;
  /** The run failed, since what was asked of it was refused: there will be no document. */
  failed?: true;
  /** The run ended without an outcome. Written by the worker that found it so: a run cannot tell this of itself. */
  closed?: ClosedRun;
  /** Whether a create request may have left. */
  numberTaken: boolean;
  /** Of the sale, or of the return, as asked for: `YYYY-MM-DD`. */
  date: string;
  fingerprint?: string | undefined;
  /** What was asked for; absent for a credit note. */
  content?: SaleContent | undefined;
  /** The refund as it was asked for: on a credit note, and on a sale whose own workflow was asked for it. */
  refund?: Refund | undefined;
  /** On a credit note. */
  originalSaleId?: string | undefined;
  document: SaleDocument | null;
  movements: StockMovement[];
  /** Those that stand. */
  attentions: Attention[];
  /** Those that were raised or cleared since the last record that was kept. */
  attentionChanges: AttentionChange[];
  decisions: Decision[];
  /** More of it is on its way: not all movements and attentions are here yet. */
  incomplete?: true | undefined;
}

/**
 * What a run sends of its document at once. With `since` it builds on the record that the run sent with that sequence:
 * what it was asked for, and what has not changed of movements and attentions, is as there. Without, it says all, or
 * begins to.
 */
export interface RecordPart extends Omit<DocumentRecord, "document"> {
  /** Of too many lines for one payload there are none: the ledger has them, or asks for them. */
  document: SaleDocument | null | "unchanged";
  since?: number | undefined;
  /** Attentions of the record before that stand no longer. */
  attentionsOver?: Pick<Attention, "code" | "subject">[] | undefined;
}

/**
 * `send-whole`: the ledger does not have the record that the part builds on. `lines-missing`: kept, but for the
 * document's lines, which were left out and which the ledger does not have. `of-another`: the number is that of another
 * sale's credit note; nothing more is to be sent. `goods-given-back`: kept, and something that the signed sale shows as
 * sold was given back by another run, which the record does not show.
 */
export type RecordAnswer = "kept" | "send-whole" | "lines-missing" | "of-another" | "goods-given-back";

/**
 * The lines of a document that is kept without them: read from the service, since they are too many for one payload.
 */
export interface KeepLinesRequest extends CallTarget, Pick<DocumentRecord, "type" | "number"> {
  saleId: string;
}

/** `kept`: the ledger has them, or has no such document without lines. */
export type KeepLinesResult = { kind: "kept" } | Refusal;

export interface AttentionChange {
  change: "raised" | "cleared";
  code: AttentionCode;
  subject?: string;
  message: string;
  evidence?: Record<string, unknown>;
  /** Since when the attention stands, or stood. */
  sinceMs: number;
  atMs: number;
}

export interface SaveRecordRequest extends CallTarget {
  record: RecordPart;
  /** The workflow was told that goods were given back, and is about to show it. */
  givenBackKnown?: true | undefined;
}
