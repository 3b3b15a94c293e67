import type { AuthorityStep, DocumentStatus } from "./authority-step.ts";
import type { CallEntry } from "./call-log.ts";

/** The wire shapes of the document, section "Resources and their fields". */
export interface Customer {
  name: string | null;
  pin: string | null;
  phone: string | null;
  email: string | null;
}

export interface SaleLine {
  id: string;
  itemId: string;
  name: string | null;
  description: string | null;
  quantity: number;
  unitPrice: number;
  total: number;
  taxableAmount: number;
  taxAmount: number;
  taxRate: number;
  taxTypeCode: string | null;
}

export interface Receipt {
  cuInvoiceNo: string | null;
  receiptNumber: number | null;
  receiptLabel: string | null;
  scuId: string | null;
  scuDate: string | null;
  scuTime: string | null;
  totalReceiptCounter: string | null;
  signature: string | null;
  internalData: string | null;
  verificationUrl: string | null;
  originalCuInvoiceNo: string | null;
}

export interface Callback {
  url: string;
  status: "awaiting_outcome" | "pending" | "delivered" | "failed";
  event: "sale.completed" | "sale.failed" | null;
  attempts: number;
  lastAttemptAt: string | null;
  lastResponseStatus: number | null;
  lastError: string | null;
  deliveredAt: string | null;
  nextAttemptAt: string | null;
}

export interface Totals {
  total: number;
  taxableAmount: number;
  taxAmount: number;
}

export interface Sale {
  id: string;
  type: "sale" | "credit_note";
  status: DocumentStatus;
  traderInvoiceNumber: string;
  saleDate: string | null;
  paymentTypeCode: string | null;
  customer: Customer;
  lines: SaleLine[];
  totals: Totals;
  receipt: Receipt | null;
  originalSaleId: string | null;
  error: string | null;
  callback: Callback | null;
}

/** A sale or credit note as the simulator keeps it: the wire shape and what only the books tell. */
export interface DocumentRecord {
  readonly sale: Sale;
  readonly businessId: string;
  readonly branchId: string;
  /** The application that created it; null when it was issued elsewhere. */
  readonly application: string | null;
  readonly idempotencyKey: string | null;
  /** The reason code of a credit note. */
  readonly reason: string | null;
  readonly createdAtMs: number;
  settledAtMs: number | null;
  /** How often it went to the authority. */
  submissions: number;
  readonly calls: CallEntry[];
  /** Where its script stands; see Authority. */
  script: readonly AuthorityStep[] | null;
  scriptPosition: number;
  cancelTimer: (() => void) | null;
}
