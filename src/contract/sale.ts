import type { Attention } from "./attention.ts";
import type { ClosedRun } from "./closed-run.ts";
import type { Receipt, SaleDocument } from "./documents.ts";
import type { InAll } from "./payload-bounds.ts";
import type { Refund, RefundRequest } from "./schema/refund-request.ts";
import type { Stage } from "./stages.ts";
import type { StockMovement } from "./stock-movement.ts";

export type { Refund, RefundRequest } from "./schema/refund-request.ts";

/** One line as a caller writes it: it names its item in exactly one way. */
export type SaleLineInput = (
  | { itemId: string; externalId?: undefined; sku?: undefined }
  | { externalId: string; itemId?: undefined; sku?: undefined }
  | { sku: string; itemId?: undefined; externalId?: undefined }
) & {
  /** More than 0. */
  quantity: number;
  /** Not below 0. */
  unitPrice: number;
};

export interface CustomerInput {
  name?: string | undefined;
  pin?: string | undefined;
  phone?: string | undefined;
  email?: string | undefined;
}

export type StockMode = "on-submission" | "on-completion" | "off";

/** Input of the `sale` workflow (https://github.com/fiscalflow/fiscalflow/blob/main/docs/sale-input.md). */
export type SaleInput = SaleFields & ({ saleId: string } | { lines: SaleLineInput[] });

/**
 * What the workflow takes besides: with neither lines nor `saleId` it carries on the sale that the ledger has under the
 * number, and `refund` is asked of it at once, for whoever can only start.
 */
export type SaleStart = SaleFields & { refund?: RefundRequest | undefined };

/** The fields of a sale's input. It has lines, or adopts a sale. */
export interface SaleFields {
  connection?: string | undefined;
  businessId?: string | undefined;
  /** A branch's id or its authorityBhfId; else the business's first branch. */
  branch?: string | undefined;
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`; default: the Africa/Nairobi date of the workflow's start. */
  saleDate?: string | undefined;
  paymentTypeCode?: string | undefined;
  customer?: CustomerInput | undefined;
  /** May be left out where `saleId` adopts a sale. */
  lines?: SaleLineInput[] | undefined;
  /** Adopt a sale that was issued elsewhere. */
  saleId?: string | undefined;
  expectedTotal?: number | undefined;
  stock?: StockMode | undefined;
  callback?: "auto" | "off" | undefined;
  /** For example `24 hours`; `0` closes at once. */
  refundWindow?: string | undefined;
}

/** A refund with the date on which it was asked for. */
export type DatedRefund = Refund & { returnDate: string };

/** What does not reach the document. */
export type SaleOptions = Pick<SaleFields, "stock" | "callback" | "refundWindow">;

/**
 * Why a refund is in conflict with the one that is known, in words; undefined where it is the same one.
 * @param numberField what its caller calls the credit note's number
 */
export function refundConflict(known: Refund, asked: Refund, numberField = "traderInvoiceNumber"): string | undefined {
  const found = refundDifferences(known, asked);
  if (found.length === 0) return undefined;
  const words = found.map((one) => `${calledBy(numberField, one.field)} ${one.words}`);
  return `The sale is being refunded, or was refunded, by ${known.traderInvoiceNumber}, and this request differs: ${words.join("; ")}. A sale has one credit note at most.`;
}

/** The fields in which a refund differs from the one that is known, named as {@link refundConflict} names them. */
export function refundConflictFields(known: Refund, asked: Refund, numberField = "traderInvoiceNumber"): string[] {
  return refundDifferences(known, asked).map(({ field }) => calledBy(numberField, field));
}

function calledBy(numberField: string, field: string): string {
  return field === "traderInvoiceNumber" ? numberField : field;
}

/** A date that is left out is no difference. */
function refundDifferences(known: Refund, asked: Refund): { field: string; words: string }[] {
  const found: { field: string; words: string }[] = [];
  const compare = (field: keyof Refund, knownValue: unknown, askedValue: unknown): void => {
    if (knownValue !== askedValue) found.push({ field, words: `is ${String(knownValue)}, not ${String(askedValue)}` });
  };
  compare("traderInvoiceNumber", known.traderInvoiceNumber, asked.traderInvoiceNumber);
  compare("reason", known.reason, asked.reason);
  if (asked.returnDate !== undefined) compare("returnDate", known.returnDate, asked.returnDate);
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
