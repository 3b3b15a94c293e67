import type { BusinessFigures, Days } from "./report.ts";

/**
 * A sale or a credit note that the service has. Amounts are exact decimal texts, negative on a credit note. They count
 * once `status` is `completed`.
 */
export interface ListedDocument {
  connection: string;
  /** `-` for none. */
  businessId: string;
  type: "sale" | "credit_note";
  number: string;
  /** Another document of the list has the number too. */
  numberUsedTwice: boolean;
  documentId: string;
  /** The service's word. */
  status: string | null;
  /** A closed sale that was refunded after its window is `credited` too. */
  stage: string;
  /** Not signed, and nothing will sign it any more: cancelled by an operator after its rejection, or by the service. */
  givenUp: boolean;
  /** `YYYY-MM-DD`. */
  date: string;
  /** `YYYY-MM-DD`, from the receipt; null where it is not known. */
  signedOn: string | null;
  /** Dated after today (Africa/Nairobi). */
  inFuture: boolean;
  /** In another month than that of `date`; null where `signedOn` is. */
  signedInAnotherMonth: boolean | null;
  /** On a day that is not among those of the list; null where `signedOn` is. */
  signedOutsidePeriod: boolean | null;
  /** Of a credit note, on an earlier day than the sale that it reverses; null where that sale's date is not known. */
  datedBeforeSale: boolean | null;
  /** The control unit's invoice number, from the receipt. */
  cuInvoiceNo: string | null;
  /** As on the receipt: its number, its label (`NS`, `NC`) and the time of `signedOn` (`hh:mm:ss`). */
  receiptNumber: number | null;
  receiptLabel: string | null;
  signedTime: string | null;
  customerName: string | null;
  customerPin: string | null;
  /** Not of a PIN's form; null where there is none. */
  customerPinMalformed: boolean | null;
  paymentTypeCode: string | null;
  total: string | null;
  taxableAmount: string | null;
  taxAmount: string | null;
  /** By rate and by the authority's letter, from the lines; empty where the ledger does not have them. */
  taxes: { taxRate: string; taxTypeCode: string | null; total: string; taxableAmount: string; taxAmount: string }[];
  /** Of a credit note: the code that it was asked for with; null where somebody else issued it. */
  refundReason: string | null;
  /** Of a credit note: the sale that it reverses. Number and date are null where that sale is not in the ledger. */
  reverses: {
    documentId: string | null;
    number: string | null;
    /** `YYYY-MM-DD`. */
    date: string | null;
    cuInvoiceNo: string | null;
  } | null;
}

/** The figures of a report of the same days, and what they leave out. */
export interface DocumentsOfBusiness extends BusinessFigures {
  /** Listed, not `completed` and not given up: they count in no figure, and may be signed yet. */
  notSigned: number;
  /** Listed and given up: they count in no figure, and never will. */
  givenUp: number;
  /** Listed with a buyer's PIN that is not of a PIN's form. */
  malformedPins: number;
  /** Listed with a payment type that is not in the authority's list. */
  unknownPaymentTypes: number;
  /** Numbers that more than one listed document has. */
  numbersUsedTwice: number;
  /** Not listed: sales and credit notes under way that have no document, as far as is known. */
  notIssued: number;
  /** Not listed: those whose workflow ended before they were known to have a document, and that nothing carries on. */
  endedNotIssued: number;
}

export interface BusinessDocuments extends DocumentsOfBusiness {
  /** By date and number. To be read once, to its end, one business after the other. */
  pages: () => AsyncIterable<ListedDocument[]>;
}

export interface DocumentsRequest {
  days: Days;
  connection?: string | undefined;
  businessId?: string | undefined;
}
