/** Accounting Service, "Resources and their fields" and "States and transitions". */

/** A thing of the accounting system, by reference. */
export interface NamedReference {
  id?: string | null | undefined;
  name?: string | null | undefined;
}

export interface BillPaymentLine {
  amount?: number | null | undefined;
  /** YYYY-MM-DD */
  allocatedOnDate?: string | null | undefined;
  reference?: string | null | undefined;
  links?: { billId?: string | null | undefined; amount?: number | null | undefined }[] | null | undefined;
}

/**
 * A payment made against supplier bills. Which fields are required is not shown, so that only the id is certain; fields
 * that the document does not name are kept.
 */
export interface BillPayment {
  id: string;
  supplierRef?: NamedReference | null | undefined;
  accountRef?: NamedReference | null | undefined;
  paymentMethodRef?: NamedReference | null | undefined;
  billRef?: { id?: string | null | undefined; billCode?: string | null | undefined } | null | undefined;
  totalAmount?: number | null | undefined;
  currency?: string | null | undefined;
  currencyRate?: number | null | undefined;
  /** YYYY-MM-DD */
  date?: string | null | undefined;
  billPaymentCode?: string | null | undefined;
  note?: string | null | undefined;
  lines?: BillPaymentLine[] | null | undefined;
  createdAt?: string | null | undefined;
  updatedAt?: string | null | undefined;
  [field: string]: unknown;
}

/** In the order in which a payment goes through them, as far as that can be guessed: the transitions are not shown. */
export const BILL_PAYMENT_STATUSES = ["pending", "syncing", "failed", "synced"] as const;

/** No field of a payment: it is learned by asking for the payments of each status. */
export type BillPaymentStatus = (typeof BILL_PAYMENT_STATUSES)[number];

/** "Limits": the numeric paging input is at most 100. */
export const LARGEST_BILL_PAYMENT_PAGE = 100;
