import { isUnknownPaymentType, paymentType } from "../../contract/codes.ts";
import { MEANING } from "../../contract/index.ts";
import { nairobiInstant, nairobiTime } from "../../contract/nairobi-date.ts";
import type { Amounts, BusinessFigures, BusinessReport, OddAmounts, Period, TaxOfRate } from "../../ledger/index.ts";
import { csvLine } from "../csv.ts";
import { plainTable } from "../plain-table.ts";
import { headOf, type SellerOf, standingOf, titleOf } from "./asked.ts";
import { age, amount, money, plain } from "./money.ts";

/** One figure, or one thing of a list. A column means the same in every line; a line leaves empty what it does not have. */
type Line = { figure: string } & { [Name in ColumnName]?: string | number | null | undefined };

/** A table of the text and of the page, with the columns that its lines have; and lines of the CSV. */
interface Part {
  title: string;
  lines: Line[];
  /** A column that says the same in every line. */
  hidden?: ColumnName;
  /** In place of the table where there are no lines. */
  none: string;
}

type Cell = string | number;

interface Column {
  head: string;
  isRight?: true;
  inWords?: (value: Cell, nowMs: number) => string;
  inCsv?: (value: Cell) => string;
}

const NUMBER = { isRight: true } as const;
const AMOUNT = {
  isRight: true,
  inWords: (value: Cell) => money(String(value)),
  inCsv: (value: Cell) => amount(String(value)),
} as const;
const QUANTITY = { isRight: true, inWords: (value: Cell) => plain(String(value)) } as const;
const INSTANT = { inCsv: (ms: Cell) => nairobiInstant(Number(ms)) } as const;
const NOT_STATED = paymentType(null);
const MEANING_OF: Readonly<Record<string, string>> = MEANING;

/** By their names in the CSV, in its order. */
const COLUMNS = {
  figure: { head: "" },
  tax_letter: { head: "letter" },
  tax_rate: { head: "rate", inWords: (percent: Cell) => `${percent} %` },
  payment_type: { head: "payment type", inWords: (code: Cell) => paymentType(code === NOT_STATED ? null : `${code}`) },
  at: { head: "at" },
  other_dates: { head: "other month or day" },
  item_name: { head: "item" },
  item_id: { head: "id" },
  number: { head: "number" },
  stage: { head: "stage" },
  needs: {
    head: "needs an operator for",
    inWords(codes: Cell) {
      const [first = ""] = String(codes).split(" ");
      return `${first}: ${MEANING_OF[first] ?? ""}`;
    },
  },
  since: { ...INSTANT, head: "since", inWords: (ms: Cell, nowMs) => `${nairobiTime(+ms)} (${age(+ms, nowMs)})` },
  workflow: { head: "workflow" },
  ended_at: { ...INSTANT, head: "ended", inWords: (ms: Cell) => nairobiTime(+ms) },
  count: { ...NUMBER, head: "count" },
  quantity_taken: { ...QUANTITY, head: "quantity taken" },
  quantity_given_back: { ...QUANTITY, head: "quantity given back" },
  quantity_returned_by_decision: { ...QUANTITY, head: "quantity returned by decision" },
  movements_unknown: { ...NUMBER, head: "movements unknown" },
  movements_not_made: { ...NUMBER, head: "movements not made" },
  decided_against_balance: { ...NUMBER, head: "decided against the balance" },
  decided_against_service: { ...NUMBER, head: "decided against the service" },
  taxable: { ...AMOUNT, head: "taxable" },
  tax: { ...AMOUNT, head: "tax" },
  total: { ...AMOUNT, head: "total" },
  at_risk: { ...AMOUNT, head: "at risk" },
  ended_amount: { ...AMOUNT, head: "amount" },
} satisfies Record<string, Column>;

type ColumnName = keyof typeof COLUMNS;

const COLUMN_NAMES = Object.keys(COLUMNS) as ColumnName[];

export interface ReportHead {
  period: Period;
  nowMs: number;
  /** Default: nobody has said who the businesses are. */
  sellerOf?: SellerOf;
}

export interface ShownTable {
  title: string;
  head: string[];
  /** Columns that are aligned to the right, from 0. */
  right: number[];
  rows: string[][];
}

/** The tables that have rows, and the sentences in place of the others. */
export function tablesOf(report: BusinessReport, nowMs: number): { tables: ShownTable[]; none: string } {
  const parts = partsOf(report);
  const none = parts.flatMap((part) => (part.lines.length > 0 ? [] : [part.none])).join(" ");
  return { tables: parts.filter(({ lines }) => lines.length > 0).map((part) => tableOf(part, nowMs)), none };
}

/** What a list of documents says below it, as the report does. */
export function signedTable(figures: BusinessFigures): ShownTable {
  return tableOf({ title: "", none: "", lines: [totalLines, taxLines, buyerLines].flatMap((of) => of(figures)) }, 0);
}

function tableOf({ title, lines, hidden }: Part, nowMs: number): ShownTable {
  const has = (name: ColumnName) => lines.some((line) => (line[name] ?? "") !== "");
  const names = COLUMN_NAMES.filter((name) => name !== hidden && has(name));
  const columns = names.map((name): [ColumnName, Column] => [name, COLUMNS[name]]);
  return {
    title,
    head: columns.map(([, { head }]) => head),
    right: columns.flatMap(([, { isRight }], index) => (isRight ? [index] : [])),
    rows: lines.map((line) =>
      columns.map(([name, { inWords = String }]) => {
        const value = line[name] ?? "";
        return value === "" ? "" : inWords(value, nowMs);
      }),
    ),
  };
}

export function renderText(businesses: readonly BusinessReport[], head: ReportHead): string {
  if (businesses.length === 0) return "The ledger has no documents of that connection and business.";
  const { period, nowMs, sellerOf = () => undefined } = head;
  const standing = standingOf(period, nowMs);
  const texts = businesses.map((report) => {
    const { tables, none } = tablesOf(report, nowMs);
    return [
      `${headOf(report, sellerOf)}, ${titleOf(period)}, amounts in KES`,
      ...(standing === undefined ? [] : [standing]),
      ...tables.map(({ title, head: names, right, rows }) => {
        const lines = plainTable(names, rows, right).split("\n");
        return [title, ...lines.map((line) => `  ${line.trimEnd()}`)].join("\n");
      }),
      ...(none === "" ? [] : [none]),
    ].join("\n\n");
  });
  return texts.join("\n\n\n");
}

/** One line for each line of the tables and of the course; RFC 4180, with a line for the names. */
export function renderCsv(businesses: readonly BusinessReport[], { period, nowMs }: ReportHead): string {
  // A file that is kept must say what it is about, and lines of several files can be put together.
  const made = [period.kind === "day" ? period.from : period.from.slice(0, 7), nairobiInstant(nowMs)];
  const lines = businesses.flatMap((report) =>
    [...partsOf(report).flatMap((part) => part.lines), ...courseLines(report, period)].map((line) => [
      report.connection,
      report.businessId,
      ...made,
      ...COLUMN_NAMES.map((name) => {
        const { inCsv = String }: Column = COLUMNS[name];
        const value = line[name] ?? "";
        return value === "" ? "" : inCsv(value);
      }),
    ]),
  );
  return [["connection", "business", "period", "made_at", ...COLUMN_NAMES], ...lines].map(csvLine).join("\r\n");
}

function partsOf(report: BusinessReport): Part[] {
  const { oddDates: odd, payments, open, ended } = report;
  return [
    { title: "Signed documents", lines: totalLines(report), none: "" },
    { title: "Tax by rate", lines: taxLines(report), none: "No document has lines." },
    {
      title: "Signed documents by the buyer's PIN",
      lines: buyerLines(report),
      none: "No document is signed.",
    },
    {
      title: "Signed documents to look at before the tax return: see fiscalflow documents",
      lines: [
        ...apart("dated in the future", odd.inFuture),
        ...apart("dated before its sale", odd.datedBeforeSale),
        ...apart("signed in another month", odd.signedInAnotherMonth),
        ...apart("dated in another month (not counted)", odd.datedInAnotherMonth),
        ...apart("signed on another day", odd.signedOnAnotherDay),
        ...apart("dated on another day (not counted)", odd.datedOnAnotherDay),
        ...apart("malformed PIN", report.buyers.malformedPin),
        ...payments.flatMap((paid) =>
          isUnknownPaymentType(paid.paymentTypeCode) === true
            ? apart("unknown payment type", paid).map((line) => ({ ...line, payment_type: paid.paymentTypeCode }))
            : [],
        ),
      ],
      none: "No signed document has a malformed buyer's PIN or an unknown payment type, is dated in the future or before its sale, or is known to be signed in another month or period than that of its date.",
    },
    {
      title: "By payment type",
      lines: payments.flatMap(({ paymentTypeCode, ...paid }) => {
        const of = { payment_type: paymentTypeCode ?? NOT_STATED };
        return [
          { ...of, figure: "taken in by sales", ...paid.sales },
          { ...of, figure: "given back by credit notes", ...paid.creditNotes },
          { ...of, figure: "net of payment type", count: paid.count, total: paid.total },
        ];
      }),
      none: "No signed document states a payment type.",
    },
    {
      title: "Stock movements",
      hidden: "figure",
      lines: report.movements.map((item) => ({
        figure: "stock",
        item_id: item.itemId,
        item_name: item.name ?? "-",
        quantity_taken: item.taken,
        quantity_given_back: item.givenBack,
        quantity_returned_by_decision: item.returnedByDecision,
        movements_unknown: item.unknown,
        movements_not_made: item.notMade,
        decided_against_balance: item.againstBalance,
        decided_against_service: item.disputed,
      })),
      none: "No stock was moved.",
    },
    {
      title: "Open and parked now",
      lines: withSum(
        open.map(({ type, number, stage, attentions, sinceMs, atRisk }) => ({
          figure: type === "sale" ? "open sale" : "open credit note",
          number,
          stage,
          needs: attentions.map(({ code }) => code).join(" "),
          since: sinceMs,
          at_risk: atRisk,
        })),
        { figure: "all open", count: open.length + report.moreOpen, at_risk: report.atRisk },
      ),
      none: "The ledger knows of nothing that is open, and nobody is needed.",
    },
    {
      title: "Ended without an outcome: carry them on with `fiscalflow sale restart`",
      lines: withSum(
        ended.documents.map(({ type, number, stage, status, endedAtMs, atRisk }) => ({
          figure: type === "sale" ? "ended sale" : "ended credit note",
          number,
          stage,
          workflow: status,
          ended_at: endedAtMs,
          ended_amount: atRisk,
        })),
        { figure: "all ended", count: ended.documents.length + ended.more, ended_amount: ended.amount },
      ),
      none: "No document ended without an outcome.",
    },
  ];
}

/** The sum is of those too that are not listed. */
function withSum(lines: Line[], sum: Line): Line[] {
  return lines.length === 0 ? [] : [...lines, sum];
}

function amounts(
  figure: string,
  { count, taxableAmount, taxAmount, total }: Omit<Amounts, "count"> & { count?: number },
): Line {
  return { figure, count, taxable: taxableAmount, tax: taxAmount, total };
}

function rate({ taxRate, taxTypeCode }: Pick<TaxOfRate, "taxRate" | "taxTypeCode">) {
  return { tax_letter: taxTypeCode, tax_rate: plain(taxRate) };
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

type Sums = Pick<Amounts, "count" | "total"> & Partial<OddAmounts["sales"]>;

/** Apart: together, a sale and the credit note that reverses it would come to nothing. */
function apart(figure: string, { sales, creditNotes }: { sales: Sums; creditNotes: Sums }): Line[] {
  const line = (kind: string, { count, taxableAmount, taxAmount, total, others = [] }: Sums): Line[] =>
    count === 0
      ? []
      : [
          {
            figure: `${figure}: ${kind}`,
            other_dates: others.join(" "),
            count,
            taxable: taxableAmount,
            tax: taxAmount,
            total,
          },
        ];
  return [...line("sales", sales), ...line("credit notes", creditNotes)];
}

/** The page has a plot of these, and the text nothing. */
function courseLines({ course, notInCourse }: BusinessReport, { kind, from }: Period): Line[] {
  return [
    ...course.flatMap(({ at: when, sales, creditNotes }): Line[] => {
      const at = kind === "day" ? `${from}T${when}` : when;
      return [
        { figure: "course of sales", at, total: sales },
        { figure: "course of credit notes", at, total: creditNotes },
      ];
    }),
    ...apart("not in the course", notInCourse),
  ];
}
