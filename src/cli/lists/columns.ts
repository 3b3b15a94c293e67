import { plainLine } from "../../contract/plain-text.ts";
import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../output.ts";
import { plainTable } from "../plain-table.ts";
import { amount, money } from "../report/money.ts";

/** One column of a list, as the table and the CSV have it. The JSON has the rows as they are. */
export interface Column<Row> {
  /** Its name in the CSV; the table alone has one without. */
  csv?: string;
  /** Its head in the table; the CSV alone has one without. */
  head?: string;
  of: (keyof Row & string) | ((row: Row) => Cell);
  /** What the table has in its place. */
  shown?: (row: Row) => string | null;
}

/** Null: nobody knows, or there is none; the CSV leaves it empty, the table has `-`. */
type Cell = string | number | boolean | null | undefined;

/** Fields of rows that hold decimal texts; they are written with two places at least. */
export type AmountFields = ReadonlySet<string>;

export function csvCells<Row>(columns: readonly Column<Row>[], amounts: AmountFields, row: Row): string[] {
  return columns.map((column) => {
    const cell = cellOf(column, row);
    if (typeof cell === "boolean") return cell ? "yes" : "no";
    return isAmount(column, amounts) && cell !== null ? amount(String(cell)) : String(cell ?? "");
  });
}

export function tableCells<Row>(columns: readonly Column<Row>[], amounts: AmountFields, row: Row): string[] {
  return columns.map((column) => {
    const cell = column.shown ? column.shown(row) : cellOf(column, row);
    return plainLine(isAmount(column, amounts) && cell !== null ? money(String(cell)) : String(cell ?? "-"));
  });
}

/** Columns of a table that are aligned to the right, from 0. */
export function amountColumns<Row>(columns: readonly Column<Row>[], amounts: AmountFields): number[] {
  return columns.flatMap((column, index) => (isAmount(column, amounts) ? [index] : []));
}

function cellOf<Row>({ of }: Column<Row>, row: Row): Cell {
  return typeof of === "function" ? of(row) : (row[of] as Cell);
}

function isAmount<Row>({ of }: Column<Row>, amounts: AmountFields): boolean {
  return typeof of === "string" && amounts.has(of);
}

/** The list of what there is now, which fits into the memory. */
interface ShownList<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  amounts?: AmountFields;
  /** What to know before the rows. */
  remarks: readonly string[];
  /** What to say where there are more rows than these. */
  more: string | undefined;
}

/** Prints it as a table, or its rows as JSON. */
export function printList<Row>(
  context: CliContext,
  json: boolean | undefined,
  { rows, columns, amounts = new Set(), remarks, more }: ShownList<Row>,
): void {
  const head = columns.map((column) => column.head ?? "");
  const cells = rows.map((row) => tableCells(columns, amounts, row));
  const table = rows.length === 0 ? "None." : plainTable(head, cells, amountColumns(columns, amounts));
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
    Object.entries(figures).map(([figure, of]) => ({
      csv: `${figure}_${name}`,
      of(row: Row) {
        const rates = ratesOf(row);
        const rate = rates.find((one) => nameOf(one) === name);
        return rates.length === 0 ? null : amount(rate ? of(rate) : "0");
      },
    })),
  );
}

/** `Listed and not signed, so in no sum: 2.` Empty where there are none. */
export function countNote(what: string, count: number, more?: string): string[] {
  return count === 0 ? [] : [noteText(what, String(count), more)];
}

export function noteText(what: string, figure: string, more?: string): string {
  return [`${what}: ${figure}.`, ...(more === undefined ? [] : [more])].join(" ");
}
