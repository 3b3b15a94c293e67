/**
 * The Compliance API's own objects, as its document shows them (Fiscal Compliance API, "Resources and their fields").
 * Plain types, so that workflows can hold them. The API may send more fields than these: they are kept, never read.
 */

/** The statuses that the document calls "in flight". */
export const IN_FLIGHT_STATUSES: readonly string[] = ["pending", "ready_to_submit", "retrying"];

/**
 * What a field holds that the API's document calls "string or null". One answer may hold an empty text where another
 * holds null or leaves the field out: all three say that there is nothing.
 */
export function givenText(text: string | null | undefined): string | null {
  return text || null;
}

export interface Customer {
  name?: string | null;
  pin?: string | null;
  phone?: string | null;
  email?: string | null;
}

export interface ResolvedLine {
  itemId: string;
  quantity: number;
  unitPrice: number;
}

export interface SaleDocumentLine {
  id: string;
  itemId: string;
  name?: string | null;
  description?: string | null;
  /** Negative on a credit note. */
  quantity: number;
  unitPrice: number;
  /** Tax-inclusive line total. */
  total: number;
  taxableAmount: number;
  taxAmount: number;
  /** VAT rate in percent. */
  taxRate: number;
  taxTypeCode?: string | null;
}

export interface Receipt {
  cuInvoiceNo?: string | null;
  receiptNumber?: number | null;
  receiptLabel?: string | null;
  scuId?: string | null;
  /** `DD/MM/YYYY`. */
  scuDate?: string | null;
  /** `hh:mm:ss`. */
  scuTime?: string | null;
  totalReceiptCounter?: string | null;
  signature?: string | null;
  internalData?: string | null;
  verificationUrl?: string | null;
  originalCuInvoiceNo?: string | null;
}

/** The authority refused the document, or the service cancelled it: nothing stands under its number. */
export function isRefusedStatus(status: string | null | undefined): boolean {
  return status === "failed" || status === "cancelled";
}

export interface LinesLeftOut {
  /** So many lines the document has. */
  count: number;
  /** Within a workflow: what was sold, line by line. */
  goods?: [itemId: string, quantity: number, unitPrice: number][];
}

export interface SaleDocument {
  id: string;
  /** `sale` or `credit_note`. */
  type: string;
  /**
   * "Sale and credit note status": in flight, `completed`, `failed` or `cancelled`, or a word that the API's document
   * does not list. `completed` alone means that the tax authority accepted the document.
   */
  status: string;
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`. */
  saleDate?: string | null;
  paymentTypeCode?: string | null;
  customer?: Customer | null;
  /** Empty beside `linesLeftOut`. */
  lines: SaleDocumentLine[];
  /** Not of the API: set by us if the lines are too many for a payload of Temporal's. The ledger keeps them. */
  linesLeftOut?: LinesLeftOut;
  totals: { total: number; taxableAmount: number; taxAmount: number };
  receipt?: Receipt | null;
  originalSaleId?: string | null;
  error?: string | null;
  /** Delivery of the result callback, without its URL: anybody who has that can signal the workflow. */
  callback?: { status: string } | null;
}

export interface Item {
  id: string;
  externalId?: string | null;
  name?: string | null;
  sku?: string | null;
  stockTracked: boolean;
  /** `PENDING` and `REGISTERED` occur; any other word counts as not registered. */
  registrationStatus: string;
  needs?: { productType?: boolean; classificationMapping?: boolean } | null;
}

export interface StockAdjustment {
  itemId: string;
  branchId: string;
  movementId: string;
  quantityOnHand?: number;
  /**
   * The tax system's report of the movement; the dialect names the field. `ok` is the only status that the document
   * shows.
   */
  report?: { stockIo?: string; stockMaster?: string };
}

/** A supplier invoice ("Purchase"). Confirming and rejecting happen outside the API. */
export interface Purchase {
  id: string;
  /** `pulled`, `pending_review`, `confirmed` or `rejected`. */
  status: string;
  supplier: { name?: string | null; pin?: string | null };
  supplierInvoiceNumber: string;
  /** `YYYY-MM-DD`. */
  invoiceDate: string;
  branch?: string | null;
  totals: { subtotal: number; vat: number; total: number };
  lines: PurchaseLine[];
  confirmationError?: string | null;
}

export interface PurchaseLine {
  description?: string | null;
  hsCode?: string | null;
  quantity: number;
  unitPrice: number;
  taxRate: number;
  taxAmount: number;
  total: number;
}
