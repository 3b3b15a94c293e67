import type { AttentionCode } from "./names.ts";
import type { Receipt } from "./documents.ts";
import { fingerprintOf, saleContent } from "./sale-content.ts";
import type { Refund, Replacement, SaleLineInput } from "./schema/sale.ts";
import type { CallTarget } from "./connection.ts";

/** A correction is a refund that names the sale which replaces the credited one (`replaceWith`). */

/**
 * - `preparing`: the corrected sale is looked at, and nothing is credited
 * - `crediting`: the credit note is on its way
 * - `issuing`: the sale is credited, and the corrected sale is on its way
 * - `corrected`: both are signed
 * - `credited`: the sale is credited, and an operator has accepted that no corrected sale follows
 * - `cancelled`: nothing was credited, and nothing issued
 */
export const CORRECTION_STAGES = ["preparing", "crediting", "issuing", "corrected", "credited", "cancelled"] as const;

export type CorrectionStage = (typeof CORRECTION_STAGES)[number];

export const ENDED_CORRECTION: readonly CorrectionStage[] = ["corrected", "credited", "cancelled"];

export function isCorrectionLeft(correction: Pick<Correction, "stage"> | undefined): boolean {
  return correction !== undefined && !ENDED_CORRECTION.includes(correction.stage);
}

/** Whether a caller who waits for the credited sale waits on for the corrected one. */
export function isSuccessorAwaited(correction: Correction | undefined): boolean {
  return isCorrectionLeft(correction) && correction?.heldUp === undefined;
}

export interface Correction {
  correctedBy: string;
  creditNote: string;
  stage: CorrectionStage;
  /** What the corrected sale needs an operator for, in its own workflow. */
  heldUp?: AttentionCode | undefined;
  /** Of the corrected sale, once it is signed; if the ledger tells of a correction, look at that sale. */
  receipt?: Receipt | null | undefined;
}

export type KeptCorrection = Pick<Correction, "correctedBy" | "creditNote" | "stage">;

/** As it is kept and compared. @param businessId that of the sale which is credited */
export function replacementOf(
  { replaceWith, replacedBy }: Pick<Refund, "replaceWith" | "replacedBy">,
  businessId: string | undefined,
): Replacement | undefined {
  if (!replaceWith) return replacedBy;
  const fingerprint = fingerprintOf(saleContent(replaceWith, businessId));
  return { traderInvoiceNumber: replaceWith.traderInvoiceNumber, fingerprint };
}

/** A refund as it is kept: the corrected sale's own row has the sale. */
export function keptRefund<Asked extends Refund>(
  refund: Asked,
  businessId: string | undefined,
): Omit<Asked, "replaceWith"> {
  const { replaceWith: _kept, ...rest } = refund;
  const replacedBy = replacementOf(refund, businessId);
  return { ...rest, ...(replacedBy && { replacedBy }) };
}

/** As far as that can be seen without its schema. @param invoice the number of the sale that is to be credited */
export function replacementProblem(
  { replaceWith, traderInvoiceNumber }: Pick<Refund, "replaceWith" | "traderInvoiceNumber">,
  invoice: string,
): string | undefined {
  if (replaceWith === undefined) return undefined;
  try {
    const { traderInvoiceNumber: number, lines } = saleContent(replaceWith, undefined);
    if (typeof number !== "string" || lines.length === 0) return NO_REPLACEMENT;
    return number === invoice || number === traderInvoiceNumber ? REPLACEMENT_NUMBER : undefined;
  } catch {
    return NO_REPLACEMENT;
  }
}

const NO_REPLACEMENT = "replaceWith: expected a sale with its number and its lines";
const REPLACEMENT_NUMBER =
  "replaceWith.traderInvoiceNumber: expected another number than those of the credited sale and of its credit note";

export interface ReserveReplacementRequest extends CallTarget {
  invoice: string;
  refund: Refund;
}

/** `refused`: something that is known stands against it, and its number is not reserved. */
export type ReserveReplacementResult =
  | {
      kind: "reserved";
      branch?: string | undefined;
      lines?: SaleLineInput[];
      /** Its credit note is on its way, or signed: nothing is looked at any more. */
      isUnderWay?: true;
    }
  | { kind: "refused"; message: string };

export interface ReleaseReplacementRequest extends CallTarget {
  number: string;
  replaces: string;
}

export interface AwaitReplacementRequest extends CallTarget, Replacement {
  unlike?: string | undefined;
  sinceMs: number;
}

export type SeenReplacement =
  | { kind: "open"; heldUp?: AttentionCode | undefined }
  | { kind: "signed"; receipt: Receipt | null }
  /**
   * It will not go on by itself. `retryable`: to start it again may help. `begun`: a workflow of its own has worked on it
   * since its number was reserved.
   */
  | { kind: "stopped"; message: string; retryable: boolean; begun: boolean };

export interface AwaitedReplacement {
  seen: SeenReplacement;
  mark: string;
}

export type DatedRefund = Refund & { returnDate: string };

/** In words; undefined where it is the same one. */
export function refundConflict(known: Refund, asked: Refund, businessId: string | undefined): string | undefined {
  const found = refundDifferences(known, asked, businessId);
  if (found.length === 0) return undefined;
  const words = found.map((one) => `${one.field} ${one.words}`);
  const todo =
    asked.replaceWith && !replacementOf(known, businessId)
      ? " Start the corrected sale as a new sale (`fiscalflow sale start`)."
      : "";
  return `The sale is being refunded, or was refunded, by ${known.traderInvoiceNumber}, and this request differs: ${words.join("; ")}. A sale has one credit note at most.${todo}`;
}

export function refundConflictFields(known: Refund, asked: Refund, businessId: string | undefined): string[] {
  return refundDifferences(known, asked, businessId).map(({ field }) => field);
}

/** Whether both are for one credit note, and for one corrected sale: what is asked of the one is asked of the other. */
export function isSameRefund(one: Refund | undefined, other: Refund, businessId?: string): boolean {
  const [first, second] = [one && replacementOf(one, businessId), replacementOf(other, businessId)];
  return one?.traderInvoiceNumber === other.traderInvoiceNumber && first?.fingerprint === second?.fingerprint;
}

/** A date that is left out is no difference. */
function refundDifferences(
  known: Refund,
  asked: Refund,
  businessId: string | undefined,
): { field: string; words: string }[] {
  const found: { field: string; words: string }[] = [];
  const compare = (field: keyof Refund, knownValue: unknown, askedValue: unknown): void => {
    if (knownValue !== askedValue) found.push({ field, words: `is ${String(knownValue)}, not ${String(askedValue)}` });
  };
  compare("traderInvoiceNumber", known.traderInvoiceNumber, asked.traderInvoiceNumber);
  compare("reason", known.reason, asked.reason);
  if (asked.returnDate !== undefined) compare("returnDate", known.returnDate, asked.returnDate);
  const [kept, wanted] = [replacementOf(known, businessId), replacementOf(asked, businessId)];
  compare("replaceWith", kept?.traderInvoiceNumber ?? "none", wanted?.traderInvoiceNumber ?? "none");
  if (kept?.traderInvoiceNumber === wanted?.traderInvoiceNumber && kept?.fingerprint !== wanted?.fingerprint)
    found.push({ field: "replaceWith", words: `is a sale ${kept?.traderInvoiceNumber ?? ""} with other content` });
  // What a correction gives back follows from what the sale took.
  if (kept || wanted) return found;
  compare("restock", known.restock ?? false, asked.restock ?? false);
  compare("branch", known.branch ?? "none", asked.branch ?? "none");
  return found;
}

export const OWN_NUMBER =
  "traderInvoiceNumber: expected a number of the credit note's own, found that of the sale which it reverses";

export const NOTHING_TO_RESTOCK =
  "This sale took nothing from stock, so there is nothing to return. If goods came back all the same, name the branch that has them (branch), or leave restock out.";

export const BRANCH_IS_KNOWN =
  "This sale took its goods from stock, and they go back to the branch from which they were taken: leave branch out.";
