import { nairobiInstant } from "../../contract/nairobi-date.ts";
import { isUnknownPaymentType, paymentType } from "../../contract/codes.ts";
import type { Amounts, BusinessReport, OddDates, Period, SignedFigures, TaxOfRate } from "../../ledger/index.ts";
import { csvLine } from "../csv.ts";
import { amount } from "./money.ts";

/** Each means one thing in every line; a line leaves empty what its figure does not have. */
const COLUMNS = [
  "connection",
  "business",
  "period",
  "made_at",
  "figure",
  "tax_letter",
  "tax_rate",
  "payment_type",
  "at",
  "other_months",
  "other_days",
  "item_id",
  "item_name",
  "number",
  "stage",
  "needs",
  "since",
  "workflow",
  "ended_at",
  "count",
  "quantity",
  "taxable",
  "tax",
  "total",
  "at_risk",
  "ended_amount",
] as const;

/** What other people have written. */
const OTHERS_WORDS: ReadonlySet<string> = new Set([
  "connection",
  "business",
  "tax_letter",
  "payment_type",
  "item_id",
  "item_name",
  "number",
]);

const AMOUNTS: ReadonlySet<string> = new Set(["taxable", "tax", "total", "at_risk", "ended_amount"]);

type Line = { figure: string } & { [Column in (typeof COLUMNS)[number]]?: string | undefined };

/**
 * One line for each figure, amounts with two places, and more where they are kept with more. RFC 4180, with a line for
 * the names.
 */
export function renderCsv(period: Period, businesses: readonly BusinessReport[], nowMs: number): string {
  // A file that is kept must say what it is about, and lines of several files can be put together.
  const made = {
    period: period.kind === "day" ? period.from : period.from.slice(0, 7),
    made_at: nairobiInstant(nowMs),
  };
  const lines = businesses.flatMap((report) => {
    const { connection, businessId: business } = report;
    return linesOf(report, period).map((line) => {
      const values: Line = { connection, business, ...made, ...line };
      return COLUMNS.map((name) => {
        const value = values[name] ?? "";
        if (OTHERS_WORDS.has(name)) return value;
        return AMOUNTS.has(name) && value !== "" ? amount(value) : value;
      });
    });
  });
  return [[...COLUMNS], ...lines].map(csvLine).join("\r\n");
}

function linesOf(report: BusinessReport, period: Period): Line[] {
  const { malformedPin } = report.buyers;
  return [
    { figure: "sales", ...amounts(report.sales) },
    { figure: "credit notes", ...amounts(report.creditNotes) },
    { figure: "net", ...amounts(report.net) },
    ...report.taxes.flatMap(({ sales, creditNotes, net, ...of }): Line[] => [
      { figure: "tax of sales", ...rate(of), ...amounts(sales) },
      { figure: "tax of credit notes", ...rate(of), ...amounts(creditNotes) },
      { figure: "tax net", ...rate(of), ...amounts(net) },
    ]),
    ...buyerLines("with a PIN", report.buyers.withPin),
    ...buyerLines("without a PIN", report.buyers.withoutPin),
    ...oddDateLines(report.oddDates),
    ...apart("malformed PIN", malformedPin.net, malformedPin),
    ...report.payments
      .filter(({ paymentTypeCode }) => isUnknownPaymentType(paymentTypeCode) === true)
      .flatMap((payment) => paymentLines("unknown payment type", payment)),
    ...report.payments.flatMap((payment) => paymentLines("payment type", payment)),
    ...report.course.flatMap(({ at: when, sales, creditNotes }): Line[] => {
      const at = period.kind === "day" ? `${period.from}T${when}` : when;
      return [
        { figure: "course of sales", at, total: sales },
        { figure: "course of credit notes", at, total: creditNotes },
      ];
    }),
    ...notInCourseLines(report),
    ...report.movements.flatMap((item): Line[] => {
      const of = { item_id: item.itemId, item_name: item.name ?? "" };
      return [
        { figure: "stock taken", ...of, quantity: item.taken },
        { figure: "stock given back", ...of, quantity: item.givenBack },
        { figure: "stock returned by decision", ...of, quantity: item.returnedByDecision },
        { figure: "stock unknown", ...of, count: String(item.unknown) },
        { figure: "stock not made", ...of, count: String(item.notMade) },
        { figure: "stock decided against the balance", ...of, count: String(item.againstBalance) },
        { figure: "stock decided against the service", ...of, count: String(item.disputed) },
      ];
    }),
    ...report.open.map(({ type, number, stage, attentions, sinceMs, atRisk }): Line => ({
      figure: type === "sale" ? "open sale" : "open credit note",
      number,
      stage,
      needs: attentions.map(({ code }) => code).join(" "),
      since: nairobiInstant(sinceMs),
      at_risk: atRisk,
    })),
    ...report.ended.documents.map(({ type, number, stage, status, endedAtMs, amount }): Line => ({
      figure: type === "sale" ? "ended sale" : "ended credit note",
      number,
      stage,
      workflow: status,
      ended_at: nairobiInstant(endedAtMs),
      ended_amount: amount,
    })),
    { figure: "at risk", count: String(report.open.length + report.moreOpen), at_risk: report.atRisk },
  ];
}

function rate({ taxRate, taxTypeCode }: Pick<TaxOfRate, "taxRate" | "taxTypeCode">): Partial<Line> {
  return { tax_letter: taxTypeCode ?? "", tax_rate: taxRate };
}

function buyerLines(which: string, { sales, creditNotes, taxes }: SignedFigures): Line[] {
  const [ofSales, ofNotes] = [`sales to buyers ${which}`, `credit notes to buyers ${which}`];
  return [
    { figure: ofSales, ...amounts(sales) },
    { figure: ofNotes, ...amounts(creditNotes) },
    ...taxes.flatMap((tax): Line[] => [
      { figure: `tax of ${ofSales}`, ...rate(tax), ...amounts(tax.sales) },
      { figure: `tax of ${ofNotes}`, ...rate(tax), ...amounts(tax.creditNotes) },
    ]),
  ];
}

type Sums = Pick<Amounts, "total"> & Partial<Amounts>;

/** Both together, and then sales and credit notes. */
function apart<Of extends Sums>(
  figure: string,
  net: Of,
  { sales, creditNotes }: { sales: Of; creditNotes: Of },
  more: (of: Of) => Partial<Line> = () => ({}),
): Line[] {
  const named = { [figure]: net, [`${figure}: sales`]: sales, [`${figure}: credit notes`]: creditNotes };
  return Object.entries(named).map(([name, of]) => ({ ...more(of), figure: name, ...amounts(of) }));
}

function paymentLines(figure: string, { paymentTypeCode, ...paid }: BusinessReport["payments"][number]): Line[] {
  return apart(figure, paid as Sums, paid, () => ({ payment_type: paymentTypeCode ?? paymentType(null) }));
}

function notInCourseLines({ notInCourse: { count, total, sales, creditNotes, counts } }: BusinessReport): Line[] {
  if (count === 0) return [];
  const kinds = {
    sales: { count: counts.sales, total: sales },
    creditNotes: { count: counts.creditNotes, total: creditNotes },
  };
  return apart("not in the course", { count, total }, kinds);
}

function oddDateLines(odd: OddDates): Line[] {
  const { inFuture, signedInAnotherMonth: late, datedInAnotherMonth: elsewhere } = odd;
  const { signedOnAnotherDay: nextDay, datedOnAnotherDay: dayBefore } = odd;
  const months = (of: { months: readonly string[] }): Partial<Line> => ({ other_months: of.months.join(" ") });
  const days = (of: { days: readonly string[] }): Partial<Line> => ({ other_days: of.days.join(" ") });
  return [
    ...apart<Amounts>("dated in the future", inFuture, inFuture),
    { figure: "dated before its sale", ...amounts(odd.datedBeforeSale) },
    ...apart("signed in another month", late, late, months),
    ...apart("dated in another month, not counted", elsewhere, elsewhere, months),
    ...(nextDay ? apart("signed on another day", nextDay, nextDay, days) : []),
    ...(dayBefore ? apart("dated on another day, not counted", dayBefore, dayBefore, days) : []),
  ];
}

function amounts({ count, total, taxableAmount, taxAmount }: Sums): Partial<Line> {
  return { count: count?.toString(), taxable: taxableAmount, tax: taxAmount, total };
}
