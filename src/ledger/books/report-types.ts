/**
 * What the documents of a business come to in a period. Amounts are exact decimal texts, in the currency of the
 * business. A document counts on its own date (`saleDate`), and only once the tax authority has accepted it.
 */
export interface BusinessFigures extends SignedFigures {
  connection: string;
  /** `-` for none. */
  businessId: string;
  /** Of the same documents, those whose buyer states a PIN, well-formed or not, and the others; again, the malformed. */
  buyers: { withPin: SignedFigures; withoutPin: SignedFigures; malformedPin: Omit<SignedFigures, "taxes"> };
  oddDates: OddDates;
}

export interface SignedFigures {
  sales: Amounts;
  /** Negative, as the service tells them. */
  creditNotes: Amounts;
  net: Amounts;
  /** By rate and by the authority's letter, from the lines. */
  taxes: TaxOfRate[];
}

/** What a report says of a business, over the documents of a period. */
export interface BusinessReport extends BusinessFigures {
  /** `count` and `total` are those of sales and credit notes together. */
  payments: ({ paymentTypeCode: string | null; sales: Paid; creditNotes: Paid } & Paid)[];
  /** For each day of a month, or each hour of the day in which a document's workflow was started. */
  course: { at: string; sales: string; creditNotes: string }[];
  /** Of a day: its documents whose workflow was started on another day, so that no hour of `course` has them. */
  notInCourse: { sales: Paid; creditNotes: Paid };
  movements: MovementsOfItem[];
  /** As things are now, whatever the period. */
  open: OpenDocument[];
  /** Open documents beyond those that are listed. */
  moreOpen: number;
  /** All open documents, listed or not, by the first thing that an operator is needed for; null: for nothing. */
  openByCode: { code: string | null; count: number; atRisk: string }[];
  /** Σ of all open documents, listed or not. */
  atRisk: string;
  /**
   * Documents that are not through, and whose run ended without an outcome: nothing carries them on until they are
   * restarted. They are neither open nor at risk. `amount` is the sum of all, `more` how many are not listed.
   */
  ended: { documents: EndedDocument[]; more: number; amount: string };
}

export type Paid = Pick<Amounts, "count" | "total">;

export interface Amounts {
  count: number;
  total: string;
  taxableAmount: string;
  taxAmount: string;
}

/** Signed documents whose date a tax return must not take as it is. */
export interface OddDates {
  /** Of the period, dated after today (Africa/Nairobi, by the database's clock). */
  inFuture: OddAmounts;
  /** Credit notes of the period, dated on an earlier day than the sale that they reverse, where that day is known. */
  datedBeforeSale: OddAmounts;
  /** Of the period, signed in another month than that of their date. `others`: the months (`YYYY-MM`). */
  signedInAnotherMonth: OddAmounts;
  /** Signed in the period, and dated outside of it in another month: counted there, and not here. `others`: as above. */
  datedInAnotherMonth: OddAmounts;
  /**
   * Of the period, signed on a day outside of it, in the month of their date: none of whole months. `others`: the days.
   */
  signedOnAnotherDay: OddAmounts;
  /** Signed in the period, and dated outside of it in the same month: counted there, and not here. `others`: as above. */
  datedOnAnotherDay: OddAmounts;
}

/** Apart: a sale and the credit note that reverses it would come to nothing together. */
export interface OddAmounts {
  sales: Amounts & { others: string[] };
  creditNotes: Amounts & { others: string[] };
}

export interface TaxOfRate {
  /** Percent. */
  taxRate: string;
  taxTypeCode: string | null;
  sales: Omit<Amounts, "count">;
  creditNotes: Omit<Amounts, "count">;
  net: Omit<Amounts, "count">;
}

export interface MovementsOfItem {
  itemId: string;
  name: string | null;
  /** Applied. */
  taken: string;
  /** Applied: returned after a cancellation or a refund, of what was taken. */
  givenBack: string;
  /** Applied: returned by an operator's decision, of what is not known to have been taken. */
  returnedByDecision: string;
  /** Nobody knows whether they were applied. */
  unknown: number;
  /** Refused and waiting for an operator, or given up. */
  notMade: number;
  /** An operator decided what became of them, and the item's balance spoke against that: some may be made twice. */
  againstBalance: number;
  /** An operator decided what became of them, and the service's late answer says otherwise: some are made twice. */
  disputed: number;
}

/** A document that is not through, or whose stock is not settled, or that needs an operator for something else. */
export interface OpenDocument {
  type: "sale" | "credit_note";
  number: string;
  stage: string;
  documentId: string | null;
  /** What an operator is needed for, the most pressing first. */
  attentions: { code: string; subject?: string; message: string; sinceMs: number }[];
  startedAtMs: number;
  /** Since when an operator is needed; else since its start. */
  sinceMs: number;
  /**
   * What may be lost: of a document that is not signed its amount, else what was asked for; of one that is, the worth
   * of its movements that are unknown or refused.
   */
  atRisk: string;
}

/** A document whose run was terminated, failed or timed out before it was through; nothing is at risk of it by itself. */
export interface EndedDocument extends OpenDocument {
  /** `terminated`, `failed`, `timed-out` or `canceled`. */
  status: string;
  endedAtMs: number;
}

/** Days of Africa/Nairobi, `YYYY-MM-DD`, both included. */
export interface Days {
  from: string;
  to: string;
}

/** Days, and whose; default: everybody's. */
export interface PeriodRequest {
  days: Days;
  connection?: string | undefined;
  businessId?: string | undefined;
}

export interface Period extends Days {
  kind: "day" | "month";
}

export type ReportRequest = Omit<PeriodRequest, "days"> & { period: Period };

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
