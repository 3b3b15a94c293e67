import type { Attention, AttentionCode, Decision } from "./attention.ts";
import type { CallTarget } from "./calls.ts";
import type { SaleDocument } from "./documents.ts";
import type { SaleContent } from "./fingerprint.ts";
import type { RefundRequest } from "./sale.ts";
import type { Stage } from "./stages.ts";
import type { StockMovement } from "./stock-movement.ts";

/** All that the ledger keeps of a sale or a credit note, as its workflow knew it at one moment. */
export interface DocumentRecord {
  type: "sale" | "credit_note";
  /** The number that was asked for. */
  number: string;
  /**
   * When it was so, by the workflow's clock (Unix milliseconds), and which record of its run it is: an attempt that comes late must not put
   * an earlier state over a later one.
   */
  asOfMs: number;
  sequence: number;
  stage: Stage;
  /** The run's start (Unix milliseconds). */
  startedAtMs: number;
  /** The run failed, for input that nobody can mend: there will be no document. */
  failed?: true;
  /** Whether a create request may have left. */
  numberTaken: boolean;
  /** Of the sale, or of the return, as asked for: `YYYY-MM-DD`. */
  date: string;
  fingerprint?: string | undefined;
  /** What was asked for; absent for a credit note. */
  content?: SaleContent | undefined;
  /** The refund as it was asked for: on a credit note, and on a sale whose own workflow was asked for it. */
  refund?: RefundRequest | undefined;
  /** On a credit note. */
  originalSaleId?: string | undefined;
  document: SaleDocument | null;
  movements: StockMovement[];
  /** Those that stand. */
  attentions: Attention[];
  /** Those that were raised or cleared since the last record that was kept. */
  attentionChanges: AttentionChange[];
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

export interface SaveRecordRequest extends CallTarget {
  record: DocumentRecord;
}
