import type { Attention, AttentionCode, Decision } from "./attention.ts";
import type { CallTarget } from "./connection.ts";
import type { ClosedRun } from "./closed-run.ts";
import type { KeptCorrection } from "./correction.ts";
import type { SaleDocument } from "./documents.ts";
import type { Differences } from "./matching.ts";
import type { SaleContent } from "./sale-content.ts";
import type { Refund, SaleOptions } from "./schema/sale.ts";
import type { Stage } from "./names.ts";
import type { InAll } from "./payload-bounds.ts";
import type { StockMovement } from "./stock-movement.ts";

/** Which row of the ledger: a sale's, or a credit note's. */
export interface DocumentRow {
  type: "sale" | "credit_note";
  /** The number that was asked for. */
  number: string;
  /** The sale that a credit note reverses: the row of another sale's credit note is not this one. */
  originalSaleId?: string | undefined;
}

/** All that the ledger's row says of a sale or a credit note. */
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
  /** What was asked for; absent for a credit note. */
  content?: SaleContent | undefined;
  /** How it is to be carried out, as asked for; absent for a credit note. */
  options?: SaleOptions | undefined;
  /** The refund as it was asked for: on a credit note, and on a sale whose own workflow was asked for it. */
  refund?: Refund | undefined;
  /** Why it is to be cancelled, or given up, where that was asked for. */
  cancelRequested?: string | undefined;
  /** On a sale that is corrected, or whose correction was given up: by which one, and how that stands. */
  correction?: KeptCorrection | undefined;
  /** On a corrected sale: the number of the sale that it replaces. */
  replaces?: string | undefined;
  /** As the service answered it last, with all its lines. */
  document: SaleDocument | null;
  /** What the caller expects the signed total to be. */
  expectedTotal?: number | undefined;
  /** How many movements the sale is to make; absent while that is not known. */
  movementsPlanned?: number | undefined;
  /** Those that stand; of very many the first. */
  attentions: Attention[];
}

/** What an activity writes into the row with the service's answer, besides the answer. */
export interface AnsweredRow extends DocumentRow {
  /** How many movements the sale makes, where the request brings it into being. */
  movementsPlanned?: number | undefined;
  /** What the caller expects the signed total to be. */
  expectedTotal?: number | undefined;
}

/** What became of an answer in the ledger, and where it is not what was asked for. */
export interface SettledAnswer extends Differences {
  /** The ledger was away: the workflow has it written later. */
  unsettled?: true;
  /** The sale is signed, and another run has given back goods that it took. */
  givenBack?: true;
  /** The row says what another run knew: this one has to tell what it knows. */
  otherRun?: true;
}

/** What only the run knows of its document. Decisions and changes are sent once, however often a note is. */
export interface RunNote extends DocumentRow {
  /** When it was so, by the workflow's clock (Unix milliseconds), and which note of its run it is. */
  asOfMs: number;
  sequence: number;
  stage: Stage;
  failed?: true | undefined;
  numberTaken: boolean;
  /** Null: it was given up. */
  refund?: Refund | null | undefined;
  cancelRequested?: string | undefined;
  /** Once nothing stands against it any more. */
  correction?: KeptCorrection | undefined;
  /** Those that stand; of very many the first. */
  attentions: Attention[];
  /** Those that were raised or cleared since the last note. */
  attentionChanges: AttentionChange[];
  /** Since the last note. */
  decisions: Decision[];
}

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

export interface NoteRunRequest extends CallTarget {
  note: RunNote;
}

/**
 * What the `findSale` workflow takes and gives: it asks the ledger for a sale whose workflow Temporal may have deleted.
 */

/**
 * A sale or a credit note as the ledger keeps it. Lines, movements, attentions and decisions that are too many for one
 * payload are left out, as in the `state` query.
 */
export interface KeptDocument extends Omit<
  DocumentRecord,
  "type" | "content" | "options" | "movementsPlanned" | "expectedTotal"
> {
  movements: StockMovement[];
  /** What operators decided, in all runs. */
  decisions: Decision[];
  /** Set where movements, attentions or decisions are left out. */
  inAll?: InAll;
  /** When the ledger last wrote down a change of it (Unix milliseconds). */
  keptAtMs: number;
  /** The workflow run that wrote it to the ledger. */
  keptBy: { workflowId: string; runId: string };
}

export interface FoundSale extends KeptDocument {
  /** Nothing is left to be done but a refund. */
  isThrough: boolean;
  /** The credit note that reverses it: the signed one, else the one that the ledger heard of last. */
  creditNote: KeptDocument | null;
}

export interface FindSaleResult {
  /** Null where the ledger has no sale of that number. */
  found: FoundSale | null;
  /** Where the number is a credit note's instead: that of the sale that it reverses. */
  creditNoteOf?: string;
}
