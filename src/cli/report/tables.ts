import { MEANING } from "../../contract/index.ts";
import type { Amounts, BusinessReport, OpenDocument, TaxOfRate } from "../../ledger/index.ts";
import { nairobiTime } from "../../contract/nairobi-date.ts";
import { isUnknownPaymentType, paymentType } from "../../contract/codes.ts";
import { buyerRows } from "./buyers.ts";
import { age, amountsRow, money, plain, rateText } from "./money.ts";

/** One table of a report, for the terminal and for the page. The first column is text, the others as `right` says. */
export interface ReportTable {
  title: string;
  head: string[];
  /** Columns that are aligned to the right, from 0. */
  right: number[];
  rows: string[][];
  /** In place of the table where there are no rows. */
  none: string;
}

/** The tables that have rows, and the sentences in place of the others. */
export function tablesOf(report: BusinessReport, nowMs: number): { tables: ReportTable[]; none: string } {
  const all = [
    totals(report),
    taxes(report),
    buyers(report),
    toLookAt(report),
    payments(report),
    movements(report),
    open(report, nowMs),
    ended(report),
  ];
  const empty = all.filter(({ rows }) => rows.length === 0);
  return { tables: all.filter(({ rows }) => rows.length > 0), none: empty.map(({ none }) => none).join(" ") };
}

function totals({ sales, creditNotes, net }: BusinessReport): ReportTable {
  const row = (name: string, amounts: Amounts): string[] => amountsRow(name, String(amounts.count), amounts);
  return {
    title: "Signed documents",
    head: ["", "count", "taxable", "tax", "total"],
    right: [1, 2, 3, 4],
    rows: [row("sales", sales), row("credit notes", creditNotes), row("net", net)],
    none: "",
  };
}

function taxes({ taxes: rates }: BusinessReport): ReportTable {
  const row = ({ sales, creditNotes, net, ...rate }: TaxOfRate): string[] => [
    rateText(rate),
    money(sales.taxableAmount),
    money(sales.taxAmount),
    money(creditNotes.taxableAmount),
    money(creditNotes.taxAmount),
    money(net.taxableAmount),
    money(net.taxAmount),
    money(net.total),
  ];
  return {
    title: "Tax by rate",
    head: ["rate", "taxable of sales", "tax of sales", "taxable of credit notes", "tax of credit notes"].concat([
      "net taxable",
      "net tax",
      "net total",
    ]),
    right: [1, 2, 3, 4, 5, 6, 7],
    rows: rates.map(row),
    none: "No document has lines.",
  };
}

function buyers(report: BusinessReport): ReportTable {
  return {
    title: "Signed documents by the buyer's PIN",
    head: ["", "count", "taxable", "tax", "total"],
    right: [1, 2, 3, 4],
    rows: buyerRows(report),
    none: "No document is signed.",
  };
}

function toLookAt({ oddDates: odd, buyers: { malformedPin }, payments: types }: BusinessReport): ReportTable {
  // Apart: together, a sale and the credit note that reverses it would come to nothing.
  const rows = <Kind extends Pick<Amounts, "count" | "total"> & { taxAmount?: string }>(
    name: string,
    of: { sales?: Kind; creditNotes: Kind } | null,
    othersOf: (kind: Kind) => readonly string[],
  ): string[][] =>
    (
      [
        [`${name} (sales)`, of?.sales],
        [`${name} (credit notes)`, of?.creditNotes],
      ] as const
    ).flatMap(([what, kind]) =>
      !kind || kind.count === 0
        ? []
        : [
            [
              what,
              othersOf(kind).join(", "),
              String(kind.count),
              kind.taxAmount === undefined ? "" : money(kind.taxAmount),
              money(kind.total),
            ],
          ],
    );
  const months = (kind: { months: readonly string[] }) => kind.months;
  const days = (kind: { days: readonly string[] }) => kind.days;
  const listed = () => ["see fiscalflow documents"];
  const { inFuture, datedBeforeSale, signedInAnotherMonth: late, datedInAnotherMonth: elsewhere } = odd;
  const { signedOnAnotherDay: nextDay, datedOnAnotherDay: dayBefore } = odd;
  return {
    title: "Signed documents to look at before the tax return",
    head: ["", "other month or day", "count", "tax", "total"],
    right: [2, 3, 4],
    rows: [
      ...rows("counted here: dated in the future", inFuture, () => ["after today"]),
      ...rows("counted here: dated before its sale", { creditNotes: datedBeforeSale }, listed),
      ...rows("counted here: signed in another month than dated", late, months),
      ...rows("not counted here: signed in this period, dated in another month", elsewhere, months),
      ...rows("counted here: signed on another day of the month", nextDay, days),
      ...rows("not counted here: signed in this period, dated on another day of the month", dayBefore, days),
      ...rows("counted here: the buyer's PIN is malformed", malformedPin, listed),
      ...types.flatMap(({ paymentTypeCode: code, ...paid }) =>
        isUnknownPaymentType(code) === true
          ? rows(`counted here: the payment type ${code} is unknown`, paid, listed)
          : [],
      ),
    ],
    none: "No signed document has a malformed buyer's PIN or an unknown payment type, is dated in the future or before its sale, or is known to be signed in another month or period than that of its date.",
  };
}

type Paid = Omit<BusinessReport["payments"][number], "paymentTypeCode" | "count">;

function payments({ payments: types, sales: allSales, creditNotes: allNotes, net }: BusinessReport): ReportTable {
  const row = (name: string, { sales, creditNotes, total }: Paid): string[] =>
    [name].concat(
      [sales, creditNotes].flatMap((of) => [String(of.count), money(of.total)]),
      money(total),
    );
  const rows = types.map((one) => row(paymentType(one.paymentTypeCode), one));
  if (rows.length > 1) rows.push(row("all", { sales: allSales, creditNotes: allNotes, total: net.total }));
  return {
    title: "By payment type",
    head: ["payment type", "sales", "taken in", "credit notes", "given back", "net"],
    right: [1, 2, 3, 4, 5],
    rows,
    none: "No signed document states a payment type.",
  };
}

function movements({ movements: items }: BusinessReport): ReportTable {
  return {
    title: "Stock movements",
    head: [
      "item",
      "id",
      "quantity taken",
      "quantity given back",
      "quantity returned by decision",
      "movements unknown",
      "movements not made",
      "decided against the balance",
      "decided against the service",
    ],
    right: [2, 3, 4, 5, 6, 7, 8],
    rows: items.map((item) => [
      item.name ?? "-",
      item.itemId,
      plain(item.taken),
      plain(item.givenBack),
      plain(item.returnedByDecision),
      String(item.unknown),
      String(item.notMade),
      String(item.againstBalance),
      String(item.disputed),
    ]),
    none: "No stock was moved.",
  };
}

function open({ open: documents, moreOpen, atRisk }: BusinessReport, nowMs: number): ReportTable {
  const row = ({ type, number, stage, attentions, sinceMs, atRisk: risk }: OpenDocument): string[] => {
    const [first] = attentions;
    const name = type === "sale" ? number : `${number} (credit note)`;
    return [
      name,
      stage,
      first ? `${first.code}: ${MEANING_OF[first.code] ?? ""}` : "-",
      `${nairobiTime(sinceMs)} (${age(sinceMs, nowMs)})`,
      money(risk),
    ];
  };
  const rows = documents.map(row);
  if (moreOpen > 0) rows.push([`and ${moreOpen} more`, "", "", "", ""]);
  if (rows.length > 0) rows.push(["all", "", "", "", money(atRisk)]);
  return {
    title: "Open and parked now",
    head: ["number", "stage", "needs an operator for", "since", "at risk"],
    right: [3, 4],
    rows,
    none: "The ledger knows of nothing that is open, and nobody is needed.",
  };
}

function ended({ ended: { documents, more, amount } }: BusinessReport): ReportTable {
  const rows = documents.map(({ type, number, stage, status, endedAtMs, amount: worth }) => [
    type === "sale" ? number : `${number} (credit note)`,
    stage,
    status,
    nairobiTime(endedAtMs),
    money(worth),
  ]);
  if (more > 0) rows.push([`and ${more} more`, "", "", "", ""]);
  if (rows.length > 0) rows.push(["all: carry them on with `fiscalflow sale restart`", "", "", "", money(amount)]);
  return {
    title: "Ended without an outcome: nothing carries these on",
    head: ["number", "stage", "workflow", "ended", "amount"],
    right: [4],
    rows,
    none: "No document ended without an outcome.",
  };
}

const MEANING_OF: Readonly<Record<string, string>> = MEANING;
