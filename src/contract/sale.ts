import type { Attention } from "./attention.ts";
import type { ClosedRun } from "./closed-run.ts";
import { type Correction, replacementOf } from "./correction.ts";
import type { Receipt, SaleDocument } from "./documents.ts";
import type { InAll } from "./payload-bounds.ts";
import type { Refund } from "./schema/sale.ts";
import type { Stage } from "./names.ts";
import type { StockMovement } from "./stock-movement.ts";

/** A refund with the date on which it was asked for. */
export type DatedRefund = Refund & { returnDate: string };

/**
 * Why a refund is in conflict with the one that is known, in words; undefined where it is the same one.
 * @param businessId of the sale
 */
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

/** The fields in which a refund differs from the one that is known. */
export function refundConflictFields(known: Refund, asked: Refund, businessId: string | undefined): string[] {
  return refundDifferences(known, asked, businessId).map(({ field }) => field);
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

/** What is wrong with a credit note under the very number of its sale: it is a document of its own. */
export const OWN_NUMBER =
  "traderInvoiceNumber: expected a number of the credit note's own, found that of the sale which it reverses";

/** Why a sale that took nothing from stock cannot be restocked. */
export const NOTHING_TO_RESTOCK =
  "This sale took nothing from stock, so there is nothing to return. If goods came back all the same, name the branch that has them (branch), or leave restock out.";

/** Why the branch of a sale that took stock cannot be chosen. */
export const BRANCH_IS_KNOWN =
  "This sale took its goods from stock, and they go back to the branch from which they were taken: leave branch out.";

/**
 * What a finished or parked sale tells (`outcome`, and the workflow's result). Of a document with too many lines for
 * one payload it has no lines, but `linesLeftOut`: the ledger keeps them.
 */
export interface SaleOutcome {
  stage: Stage;
  sale: SaleDocument | null;
  receipt: Receipt | null;
  creditNote?: SaleDocument | null;
  /**
   * The refund as it was asked for, its date filled in: of a sale that is being credited or is credited.
   */
  refund?: Refund;
  /** Where the refund names a corrected sale: how that stands. */
  correction?: Correction;
  /** Of too many for one payload those that are not done come first; the others may be left out. */
  stockMovements: StockMovement[];
  /** Set where movements are left out. */
  inAll?: Pick<InAll, "stockMovements">;
  /** The most pressing one; the `state` query has them all. */
  attention?: Attention;
  /** A cancellation was asked for. Beside a completed sale: it came too late, and a refund reverses it. */
  cancelRequested?: string;
  /** False while it is certain that no create request has left: the number is free again when the run ends so. */
  numberTaken: boolean;
  /** Set where the workflow ended without an outcome; the rest is what was true then. Never in a workflow's result. */
  closed?: ClosedRun;
  /** Which `outcome` update to join for the next wait: `outcome:<fingerprint>:<nextWait>`. */
  nextWait: number;
}
