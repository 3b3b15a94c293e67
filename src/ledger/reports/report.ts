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
  notInCourse: Paid & { sales: string; creditNotes: string; counts: { sales: number; creditNotes: number } };
  movements: MovementsOfItem[];
  /** As things are now, whatever the period. */
  open: OpenDocument[];
  /** Open documents beyond those that are listed. */
  moreOpen: number;
  /** Σ of all open documents, listed or not. */
  atRisk: string;
  /**
   * Documents that are not through, and whose run ended without an outcome: nothing carries them on until they are
   * restarted. They are neither open nor at risk. `amount` is the sum of all, `more` how many are not listed.
   */
  ended: { documents: EndedDocument[]; more: number; amount: string };
}

type Paid = Pick<Amounts, "count" | "total">;

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
  datedBeforeSale: Amounts;
  /** Of the period, signed in another month than that of their date. */
  signedInAnotherMonth: AmountsOfMonths;
  /** Signed in the period, and dated outside of it in another month: counted there, and not here. */
  datedInAnotherMonth: AmountsOfMonths;
  /**
   * Of the period, signed on a day outside of it, in the month of their date. Null where the period is whole months,
   * which have no such days.
   */
  signedOnAnotherDay: AmountsOfDays | null;
  /** Signed in the period, and dated outside of it in the same month: counted there, and not here. Null as above. */
  datedOnAnotherDay: AmountsOfDays | null;
}

/** The sums of sales and credit notes, and those of each: a sale and its credit note come to nothing together. */
export interface OddAmounts extends Amounts {
  sales: Amounts;
  creditNotes: Amounts;
}

interface OtherMonths {
  /** The other months: `YYYY-MM`, ascending. */
  months: string[];
}

interface OtherDays {
  /** The other days: `YYYY-MM-DD`, ascending. */
  days: string[];
}

/** Of all, and those of the sales and of the credit notes apart: their tax returns are others. */
type OddAmountsOf<Others> = Others & Amounts & { sales: Amounts & Others; creditNotes: Amounts & Others };

export type AmountsOfMonths = OddAmountsOf<OtherMonths>;
export type AmountsOfDays = OddAmountsOf<OtherDays>;

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

/** A document whose run was terminated, failed or timed out before it was through. */
export interface EndedDocument {
  type: "sale" | "credit_note";
  number: string;
  stage: string;
  documentId: string | null;
  /** `terminated`, `failed`, `timed-out` or `canceled`. */
  status: string;
  endedAtMs: number;
  /** What its `atRisk` would be if it were open. */
  amount: string;
}

/** Days of Africa/Nairobi, `YYYY-MM-DD`, both included. */
export interface Days {
  from: string;
  to: string;
}

export interface Period extends Days {
  kind: "day" | "month";
}

export interface ReportRequest {
  period: Period;
  connection?: string | undefined;
  businessId?: string | undefined;
}
