import { isUnknownPaymentType, paymentType } from "../../contract/codes.ts";
import { money } from "../../contract/decimal.ts";
import { MEANING } from "../../contract/index.ts";
import { nairobiTime } from "../../contract/nairobi-date.ts";
import type { Amounts, BusinessFigures, BusinessReport, OddAmounts, TaxOfRate } from "../../ledger/index.ts";
import { age, plain } from "../output.ts";

/** The columns of all tables, in their order; a table has those that its lines have. */
const WORDS = [
  "",
  "letter",
  "rate",
  "payment type",
  "other month or day",
  "item",
  "id",
  "number",
  "stage",
  "needs an operator for",
  "since",
  "workflow",
  "ended",
] as const;
const FIGURES = [
  "count",
  "quantity taken",
  "quantity given back",
  "quantity returned by decision",
  "movements unknown",
  "movements not made",
  "decided against the balance",
  "decided against the service",
  "taxable",
  "tax",
  "total",
  "at risk",
  "amount",
] as const;

/** One figure, or one thing of a list, with what it has in each column. */
type Line = { [Head in (typeof WORDS | typeof FIGURES)[number]]?: string };

export interface ShownTable {
  title: string;
  head: string[];
  /** Columns that are aligned to the right, from 0. */
  right: number[];
  rows: string[][];
}

export function tablesOf(report: BusinessReport, nowMs: number): { tables: ShownTable[]; none: string } {
  const parts = partsOf(report, nowMs);
  return {
    tables: parts.flatMap(([title, lines]) => (lines.length > 0 ? [tableOf(title, lines)] : [])),
    none: parts.flatMap(([, lines, none]) => (lines.length > 0 ? [] : [none])).join(" "),
  };
}

/** What a list of documents says below it, as the report does. */
export function signedTable(figures: BusinessFigures): ShownTable {
  const lines = [totalLines, taxLines, buyerLines, oddDateLines].flatMap((linesOf) => linesOf(figures));
  return tableOf("", lines);
}

function tableOf(title: string, lines: readonly Line[]): ShownTable {
  const has = (head: keyof Line): boolean => lines.some((line) => (line[head] ?? "") !== "");
  const words = WORDS.filter(has);
  const figures = FIGURES.filter(has);
  const head = [...words, ...figures];
  return {
    title,
    head,
    right: figures.map((_, index) => words.length + index),
    rows: lines.map((line) => head.map((name) => line[name] ?? "")),
  };
}

/** @returns of each table its title, its lines, and the sentence in its place where it has none */
function partsOf(report: BusinessReport, nowMs: number): [title: string, lines: Line[], none: string][] {
  const { payments, movements, open, ended } = report;
  return [
    ["Signed documents", totalLines(report), ""],
    ["Tax by rate", taxLines(report), "No document has lines."],
    ["Signed documents by the buyer's PIN", buyerLines(report), "No document is signed."],
    [
      "Signed documents to look at before the tax return: see fiscalflow documents",
      [
        ...oddDateLines(report),
        ...apart("malformed PIN", report.buyers.malformedPin),
        ...payments
          .filter((paid) => isUnknownPaymentType(paid.paymentTypeCode))
          .flatMap((paid) =>
            apart("unknown payment type", paid, { "payment type": paymentType(paid.paymentTypeCode) }),
          ),
      ],
      "No signed document has a malformed buyer's PIN or an unknown payment type, is dated in the future or before its sale, or is known to be signed in another month or period than that of its date.",
    ],
    [
      "By payment type",
      payments.flatMap(({ paymentTypeCode, sales, creditNotes, ...net }) => {
        const of = { "payment type": paymentType(paymentTypeCode) };
        return [
          { ...of, ...amounts("taken in by sales", sales) },
          { ...of, ...amounts("given back by credit notes", creditNotes) },
          { ...of, ...amounts("net of payment type", net) },
        ];
      }),
      "No signed document states a payment type.",
    ],
    [
      "Stock movements",
      movements.map((item) => ({
        item: item.name ?? "-",
        id: item.itemId,
        "quantity taken": plain(item.taken),
        "quantity given back": plain(item.givenBack),
        "quantity returned by decision": plain(item.returnedByDecision),
        "movements unknown": `${item.unknown}`,
        "movements not made": `${item.notMade}`,
        "decided against the balance": `${item.againstBalance}`,
        "decided against the service": `${item.disputed}`,
      })),
      "No stock was moved.",
    ],
    [
      "Open now",
      withSum(
        open.map(({ type, number, stage, attentions: [attention], sinceMs, atRisk }) => ({
          "": type === "sale" ? "open sale" : "open credit note",
          number,
          stage,
          "needs an operator for": attention && `${attention.code}: ${MEANING_OF[attention.code] ?? ""}`,
          since: `${nairobiTime(sinceMs)} (${age(sinceMs, nowMs)})`,
          "at risk": money(atRisk),
        })),
        { "": "all open", count: `${open.length + report.moreOpen}`, "at risk": money(report.atRisk) },
      ),
      "The ledger knows of nothing that is open.",
    ],
    [
      "Ended without an outcome: carry them on with `fiscalflow sale restart`",
      withSum(
        ended.documents.map(({ type, number, stage, status, endedAtMs, atRisk }) => ({
          "": type === "sale" ? "ended sale" : "ended credit note",
          number,
          stage,
          workflow: status,
          ended: nairobiTime(endedAtMs),
          amount: money(atRisk),
        })),
        { "": "all ended", count: `${ended.documents.length + ended.more}`, amount: money(ended.amount) },
      ),
      "No document ended without an outcome.",
    ],
  ];
}

const MEANING_OF: Readonly<Record<string, string>> = MEANING;

/** The sum is of those too that are not listed. */
function withSum(lines: Line[], sum: Line): Line[] {
  return lines.length === 0 ? [] : [...lines, sum];
}

function amounts(figure: string, { count, taxableAmount, taxAmount, total }: Partial<Amounts>): Line {
  return {
    "": figure,
    count: count === undefined ? undefined : `${count}`,
    taxable: taxableAmount && money(taxableAmount),
    tax: taxAmount && money(taxAmount),
    total: total && money(total),
  };
}

function rate({ taxRate, taxTypeCode }: Pick<TaxOfRate, "taxRate" | "taxTypeCode">): Line {
  return { letter: taxTypeCode ?? "", rate: `${plain(taxRate)} %` };
}

/** `B 16 %`. */
export function rateText({ taxRate, taxTypeCode }: Pick<TaxOfRate, "taxRate" | "taxTypeCode">): string {
  return `${taxTypeCode ?? "-"} ${plain(taxRate)} %`;
}

function totalLines({ sales, creditNotes, net }: BusinessFigures): Line[] {
  return [amounts("sales", sales), amounts("credit notes", creditNotes), amounts("net", net)];
}

function taxLines({ taxes }: BusinessFigures): Line[] {
  return taxes.flatMap((tax) => [
    { ...amounts("tax of sales", tax.sales), ...rate(tax) },
    { ...amounts("tax of credit notes", tax.creditNotes), ...rate(tax) },
    { ...amounts("tax net", tax.net), ...rate(tax) },
  ]);
}

/**
 * What was sold to buyers with a PIN and to buyers without one, since a tax return asks for the two apart. Where the two
 * together have more than one rate, each has a line.
 */
function buyerLines({ buyers: { withPin, withoutPin } }: BusinessFigures): Line[] {
  const groups = [
    ["with a PIN", withPin],
    ["without a PIN", withoutPin],
  ] as const;
  const rates = new Set(groups.flatMap(([, { taxes }]) => taxes.map((tax) => JSON.stringify(rate(tax)))));
  return (["sales", "creditNotes"] as const).flatMap((kind) => {
    if (groups.every(([, figures]) => figures[kind].count === 0)) return [];
    return groups.flatMap(([whose, figures]) => {
      const figure = `${kind === "sales" ? "sales" : "credit notes"} to buyers ${whose}`;
      const taxes = figures.taxes.map((tax) => ({ ...amounts(`tax of ${figure}`, tax[kind]), ...rate(tax) }));
      return [amounts(figure, figures[kind]), ...(rates.size > 1 ? taxes : [])];
    });
  });
}

function oddDateLines({ oddDates: odd }: BusinessFigures): Line[] {
  return [
    ...apart("dated in the future", odd.inFuture),
    ...apart("dated before its sale", odd.datedBeforeSale),
    ...apart("signed in another month", odd.signedInAnotherMonth),
    ...apart("dated in another month (not counted)", odd.datedInAnotherMonth),
    ...apart("signed on another day", odd.signedOnAnotherDay),
    ...apart("dated on another day (not counted)", odd.datedOnAnotherDay),
  ];
}

type Sums = Pick<Amounts, "count" | "total"> & Partial<OddAmounts["sales"]>;

/** Together, a sale and the credit note that reverses it would come to nothing. */
function apart(figure: string, { sales, creditNotes }: { sales: Sums; creditNotes: Sums }, more: Line = {}): Line[] {
  const kinds = [
    ["sales", sales],
    ["credit notes", creditNotes],
  ] as const;
  return kinds
    .filter(([, { count }]) => count > 0)
    .map(([kind, sums]) => ({
      ...amounts(`${figure}: ${kind}`, sums),
      "other month or day": sums.others?.join(" "),
      ...more,
    }));
}
