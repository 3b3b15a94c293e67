import { amount, money } from "../contract/decimal.ts";
import { plainLine } from "../contract/plain-text.ts";
import { widthOf } from "../receipt/text.ts";
import type { CliContext } from "./context.ts";
import { printNote, printResult } from "./output.ts";

/**
 * Columns without lines, for a terminal.
 * @param right columns that are aligned to the right, from 0
 */
export function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string {
  // A cell of several lines would look like several rows.
  const all = [head, ...rows.map((row) => row.map(plainLine))];
  const widths = columnWidths(all);
  return all.map((row) => tableLine(row, widths, right)).join("\n");
}

export function columnWidths(rows: readonly (readonly string[])[]): number[] {
  // A list may have more rows than a function takes arguments.
  return (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? "")), 0),
  );
}

/** A cell that is wider than its column stands out of line, and is whole. */
export function tableLine(cells: readonly string[], widths: readonly number[], right: readonly number[]): string {
  const padded = cells.map((cell, column) => {
    const gap = " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
    return right.includes(column) ? `${gap}${cell}` : `${cell}${gap}`;
  });
  return padded.join("  ").trimEnd();
}

/** Of a list, as its table and its CSV have it. The JSON has the rows as they are. */
export interface Column<Row> {
  /** Its name in the CSV; the table alone has one without. */
  csv?: string;
  /** Its head in the table; the CSV alone has one without. */
  head?: string;
  of: (keyof Row & string) | ((row: Row) => Cell);
  /** What the table has in its place. */
  shown?: (row: Row) => string | null;
  /** A decimal text, written with two places at least; in the table on the right. */
  isAmount?: true;
}

/** Null: nobody knows, or there is none; the CSV leaves it empty, the table has `-`. */
type Cell = string | number | boolean | null | undefined;

export function csvCells<Row>(columns: readonly Column<Row>[], row: Row): string[] {
  return columns.map((column) => {
    const cell = cellOf(column, row);
    if (typeof cell === "boolean") return cell ? "yes" : "no";
    return column.isAmount && cell ? amount(String(cell)) : String(cell ?? "");
  });
}

export function tableCells<Row>(columns: readonly Column<Row>[], row: Row): string[] {
  return columns.map((column) => {
    const cell = column.shown ? column.shown(row) : cellOf(column, row);
    return plainLine(column.isAmount && cell ? money(String(cell)) : String(cell ?? "-"));
  });
}

export function amountColumns<Row>(columns: readonly Column<Row>[]): number[] {
  return columns.flatMap(({ isAmount }, index) => (isAmount ? [index] : []));
}

function cellOf<Row>({ of }: Column<Row>, row: Row): Cell {
  return typeof of === "function" ? of(row) : (row[of] as Cell);
}

/** A line of RFC 4180, without its end. Each cell stays on this line, and none becomes a formula of a spreadsheet. */
export function csvLine(values: readonly string[]): string {
  return values.map(csvCell).join(",");
}

/** A figure of ours, or the dash of a cell that has none. */
const FIGURE = /^-?[\d.]*$/;
/**
 * What begins a formula, also behind spaces, which spreadsheets leave out, and behind the semicolon, which separates
 * cells where a comma separates decimals. Excel takes the full width forms of East Asia for the same.
 */
const FORMULA = /(^|;)(\s*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\uFE62\uFE63\uFE66\uFE6B\u2212])/g;

function csvCell(value: string): string {
  const words = plainLine(value);
  const text = FIGURE.test(words) ? words : words.replaceAll(FORMULA, "$1$2'");
  return /[",;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The list of what there is now, which fits into the memory. */
interface ShownList<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** What to know before the rows. */
  remarks: readonly string[];
  /** What to say where there are more rows than these. */
  more: string | undefined;
}

export function printList<Row>(
  context: CliContext,
  json: boolean | undefined,
  { rows, columns, remarks, more }: ShownList<Row>,
): void {
  const head = columns.map((column) => column.head ?? "");
  const cells = rows.map((row) => tableCells(columns, row));
  const table = rows.length === 0 ? "None." : plainTable(head, cells, amountColumns(columns));
  printResult(context, json, rows, [...remarks, ...(remarks.length > 0 ? [""] : []), table].join("\n"));
  if (json === true) for (const remark of remarks) printNote(context, remark);
  if (more !== undefined) printNote(context, more);
}

/**
 * For the CSV, a column of each figure for each rate of tax: empty where nothing is known of a row's rates.
 * @param names of the rates, in the order of the columns
 * @param figures by how the names of their columns begin
 */
export function rateColumns<Row, Rate>(
  names: readonly string[],
  ratesOf: (row: Row) => readonly Rate[],
  nameOf: (rate: Rate) => string,
  figures: Readonly<Record<string, (rate: Rate) => string>>,
): Column<Row>[] {
  return [...new Set(names)].flatMap((name) =>
    Object.entries(figures).map(([figure, of]): Column<Row> => ({
      csv: `${figure}_${name}`,
      of(row) {
        const rates = ratesOf(row);
        const rate = rates.find((one) => nameOf(one) === name);
        return rates.length === 0 ? null : rate ? of(rate) : "0";
      },
      isAmount: true,
    })),
  );
}

/** `Note: Listed and not signed, so in no sum: 2.` Empty where there are none. */
export function countNote(what: string, count: number, more = ""): string[] {
  return count === 0 ? [] : [`Note: ${what}: ${count}.${more && ` ${more}`}`];
}
