import type { AttentionCode } from "./attention.ts";
import type { CallTarget, ConflictDetails } from "./calls.ts";
import type { ConnectionProfile } from "./connection.ts";
import type { Receipt } from "./documents.ts";
import { fingerprintOf, type SaleContent } from "./fingerprint.ts";
import type { JobState } from "./jobs.ts";
import type { RefundReason } from "./refund-reasons.ts";
import { type Refund, refundConflict, refundConflictFields, type SaleFields, type SaleLineInput } from "./sale.ts";
import { sha256Hex } from "./sha256.ts";
import type { Stage } from "./stages.ts";

/** A correction credits a signed sale, and issues the sale as it should have been under a number of its own. */

/** The corrected sale: what the `sale` workflow takes, but nothing that was issued elsewhere. */
export type CorrectedSaleInput = Omit<SaleFields, "saleId"> & { lines: SaleLineInput[] };

export interface CorrectionRequest {
  reason: RefundReason;
  /** The credit note's own number, at most 50 characters. */
  creditNote: string;
  /** `YYYY-MM-DD`, of the credit note; default: the Africa/Nairobi date on which the sale is credited. */
  returnDate?: string | undefined;
  /** Connection and business are those of the sale that it corrects. */
  sale: CorrectedSaleInput;
}

/** Input of the `correctSale` workflow. */
export interface CorrectionInput extends CorrectionRequest {
  connection?: string;
  businessId?: string;
  /** The number of the sale that is corrected. */
  invoice: string;
}

/**
 * - `preparing`: nothing is credited; it can be cancelled
 * - `crediting`: the credit note is on its way
 * - `issuing`: the sale is credited, and the corrected sale is on its way
 * - `corrected`: both are signed
 * - `credited`: the sale is credited, and an operator has accepted that no corrected sale follows
 * - `cancelled`: nothing was credited, and nothing issued
 */
export const CORRECTION_STAGES = ["preparing", "crediting", "issuing", "corrected", "credited", "cancelled"] as const;

export type CorrectionStage = (typeof CORRECTION_STAGES)[number];

/** The stages at which it has ended. */
export const ENDED_CORRECTION: readonly CorrectionStage[] = ["corrected", "credited", "cancelled"];

export interface CorrectionProgress {
  stage: CorrectionStage;
  /** The number of the sale that is corrected. */
  invoice: string;
  creditNote: string;
  /** The number of the corrected sale. */
  correctedBy: string;
  /** Of the corrected sale. */
  receipt?: Receipt | null;
  /** The credit note or the corrected sale needs an operator, in the workflow of its sale. */
  heldUp?: HeldUp | undefined;
  /** Why it ended without a corrected sale. */
  message?: string;
}

export interface HeldUp {
  what: "credit-note" | "corrected-sale";
  code: AttentionCode;
}

/** Answer of the `state` query, and what the workflow has come to so far. */
export type CorrectionState = JobState<CorrectionProgress>;

/** Result of the `correctSale` workflow. */
export type CorrectionOutcome = CorrectionProgress;

/** 64 hex digits; equal where the same credit note and the same corrected sale are asked for. */
export function correctionFingerprint(
  { reason, creditNote, returnDate }: Omit<CorrectionRequest, "sale">,
  content: SaleContent,
): string {
  return sha256Hex(JSON.stringify([reason, creditNote, returnDate ?? null, fingerprintOf(content)]));
}

/** The refund that a correction asks for: the goods go back, since the corrected sale takes its own. */
export function refundOfCorrection(
  { reason, creditNote, returnDate }: CorrectionInput,
  { tookStock }: SeenSale,
): Refund {
  const date = returnDate === undefined ? {} : { returnDate };
  return { reason, traderInvoiceNumber: creditNote, ...date, restock: tookStock };
}

/**
 * Why the sale that is to be corrected was credited otherwise, and what to do, with the fields that differ, as the
 * caller of the correction knows them; undefined where it was not.
 */
export function creditConflict(credited: Refund, asked: Refund): (ConflictDetails & { message: string }) | undefined {
  const conflict = refundConflict(credited, asked, "creditNote");
  if (conflict === undefined) return undefined;
  const { traderInvoiceNumber: note, restock = false } = credited;
  const isSameStock = restock === (asked.restock ?? false) && credited.branch === undefined;
  const todo = isSameStock
    ? `Ask for the correction with what ${note} has: then the corrected sale alone is issued.`
    : `Start the corrected sale as a new sale (\`fiscalflow sale start\`), which takes its goods from stock. ${note} ${restock ? "returns" : "does not return"} the goods of the first sale to stock: check the stock first.`;
  const fields = refundConflictFields(credited, asked, "creditNote");
  return { message: `${conflict} Nothing was done. ${todo}`, fields };
}

export interface PreparedCorrection {
  profile: ConnectionProfile;
  /** The corrected sale, its connection and business filled in. */
  sale: CorrectedSaleInput;
  /** Of the sale alone, as its own workflow makes it. */
  saleFingerprint: string;
  fingerprint: string;
  /** An earlier run has begun it, so that nothing is refused any more. */
  resumed: boolean;
}

export interface SeeSaleRequest extends CallTarget {
  number: string;
  /** Answer only once what is seen has another mark. */
  unlike?: string | undefined;
  /** Since when that has been waited for (Unix milliseconds). */
  sinceMs: number;
}

/** What is known of a sale at one moment, from its workflow or, where that has gone, from the ledger. */
export interface SeenSale {
  /**
   * `open`: its workflow takes messages. `closed`: it has ended with an outcome. `stopped`: it was terminated, or has
   * failed. `forgotten`: Temporal has deleted it.
   */
  run: "open" | "closed" | "stopped" | "forgotten";
  stage: Stage;
  /** The id of its document. */
  saleId?: string | undefined;
  /** The date of its document. */
  saleDate?: string | null | undefined;
  fingerprint?: string | undefined;
  /** Whether a create request may have been sent. */
  numberTaken: boolean;
  /** Whether it has taken goods from stock, or may still do so. */
  tookStock: boolean;
  refund?: Refund | undefined;
  /** The number of the signed credit note that reverses it. */
  creditedBy?: string | undefined;
  receipt?: Receipt | null | undefined;
  /** What its document, or its credit note, needs an operator for. */
  heldUp?: AttentionCode | undefined;
  /** Whether a movement shows that goods went back to stock by its refund. */
  restocked: boolean;
  /** Why its workflow failed. */
  failure?: string | undefined;
}

export interface SeeSaleResult {
  /** Null where neither Temporal nor the ledger knows a sale of that number. */
  sale: SeenSale | null;
  mark: string;
}

/** What the ledger keeps of a correction: a sale has at most one that has begun, or has come to its end. */
export interface BeginCorrectionRequest extends CallTarget {
  invoice: string;
  correctedBy: string;
  creditNote: string;
  fingerprint: string;
}

/** `taken`: another correction has the sale, or has the corrected sale's number. */
export type BeginCorrectionResult = { kind: "begun" } | { kind: "taken"; message: string };

export interface EndCorrectionRequest extends CallTarget {
  invoice: string;
  stage: "corrected" | "credited" | "cancelled";
}
