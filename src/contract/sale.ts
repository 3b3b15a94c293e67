import type { Attention } from "./attention.ts";
import type { Receipt, SaleDocument } from "./documents.ts";
import type { Stage } from "./stages.ts";
import type { StockMovement } from "./stock-movement.ts";

/** One line as a caller writes it: it names its item in exactly one way. */
export interface SaleLineInput {
  itemId?: string;
  externalId?: string;
  sku?: string;
  /** More than 0. */
  quantity: number;
  /** Not below 0. */
  unitPrice: number;
}

export interface CustomerInput {
  name?: string;
  pin?: string;
  phone?: string;
  email?: string;
}

export type StockMode = "on-submission" | "on-completion" | "off";

/** Input of the `sale` workflow (contract, "`sale` input"). */
export interface SaleInput {
  connection?: string;
  businessId?: string;
  /** A branch's id or its authorityBhfId; else the business's first branch. */
  branch?: string;
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`; default: the Africa/Nairobi date of the workflow's start. */
  saleDate?: string;
  paymentTypeCode?: string;
  customer?: CustomerInput;
  /** May be left out where `saleId` adopts a sale. */
  lines?: SaleLineInput[];
  /** Adopt a sale that was issued elsewhere. */
  saleId?: string;
  expectedTotal?: number;
  stock?: StockMode;
  callback?: "auto" | "off";
  /** For example `24 hours`; `0` closes at once. */
  refundWindow?: string;
}

/** Fiscal Compliance API, POST /v1/credit-notes, `reason`. */
export const REFUND_REASONS = {
  "01": "missing quantity",
  "02": "missing data",
  "03": "damaged",
  "04": "wasted",
  "05": "raw material shortage",
  "06": "refund",
} as const;

export type RefundReason = keyof typeof REFUND_REASONS;

export interface RefundRequest {
  reason: RefundReason;
  /** The credit note's own number, at most 50 characters. */
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`; default: the Africa/Nairobi date of the request. */
  returnDate?: string;
  /** Give the goods back to stock; default false. */
  restock?: boolean;
}

/** Input of the `creditNote` workflow. */
export interface CreditNoteInput extends RefundRequest {
  connection?: string;
  businessId?: string;
  saleId: string;
  callback?: "auto" | "off";
  /** To which the goods go back when asked to restock: a branch's id or authorityBhfId; else the business's first branch. */
  branch?: string;
  /** Set by the sale that starts it: the sale's workflow id, told of every change. */
  saleWorkflowId?: string;
  /** Set by the sale that starts it, which knows what the credit note must reverse; else the API is asked. */
  original?: SaleDocument;
}

/** What a finished or parked sale tells (`outcome`, and the workflow's result). */
export interface SaleOutcome {
  stage: Stage;
  sale: SaleDocument | null;
  receipt: Receipt | null;
  creditNote?: SaleDocument | null;
  stockMovements: StockMovement[];
  /** The most pressing one; the `state` query has them all. */
  attention?: Attention;
  /** A cancellation was asked for. Beside a completed sale: it came too late, and a refund reverses it. */
  cancelRequested?: string;
  /** False while it is certain that no create request has left: the number is free again when the run ends so. */
  numberTaken: boolean;
  /** Which `outcome` update to join for the next wait: `outcome:<fingerprint>:<nextWait>`. */
  nextWait: number;
}
