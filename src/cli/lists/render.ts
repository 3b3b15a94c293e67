import { nairobiInstant } from "../../contract/nairobi-date.ts";
import { plainLine } from "../../contract/plain-text.ts";
import { csvLine } from "../csv.ts";
import { withInstants } from "../instants.ts";
import { jsonText } from "../output.ts";
import { plainTable } from "../plain-table.ts";
import { withAmounts } from "../report/money.ts";
import type { ListHead, Owner, PeriodList } from "./list.ts";

type Render = <One extends Owner<Row>, Row>(
  list: PeriodList<One, Row>,
  head: ListHead,
  owners: readonly One[],
) => AsyncGenerator<string>;

/** One line for each row. As in the report, each says when it was made: lines of several files can be put together. */
export const renderCsv: Render = async function* renderCsv(list, { madeAtMs }, owners) {
  const { head, cells } = list.csv(owners);
  const text = (lines: readonly (readonly string[])[]): string => lines.map((line) => `${csvLine(line)}\r\n`).join("");
  const madeAt = nairobiInstant(madeAtMs);
  yield text([[...head, "made_at"]]);
  for (const { pages } of owners)
    for await (const page of pages()) yield text(page.map((row) => [...cells(row), madeAt]));
};

/** One JSON document, with each row on a line. */
export const renderJson: Render = async function* renderJson({ json: fields }, head, owners) {
  const json = (data: object): string => jsonText(withInstants(withAmounts(data, fields.amounts)));
  const { days: period, madeAtMs, standing = null } = head;
  yield `${json({ period, madeAtMs, standing }).slice(0, -1)},"${fields.owners}":[`;
  for (const [index, owner] of owners.entries()) {
    yield `${index === 0 ? "" : ","}\n${json(fields.figuresOf(owner, head)).slice(0, -1)},"${fields.rows}":[`;
    let between = "\n";
    for await (const page of owner.pages()) {
      const lines = page.map((row) => json(fields.rowOf(row)));
      yield `${between}${lines.join(",\n")}`;
      between = ",\n";
    }
    yield "]}";
  }
  yield "]}\n";
};

/** A table for each owner, its sums, and what they leave out. */
export const renderTable: Render = async function* renderTable({ table, notesOf }, head, owners) {
  const { standing } = head;
  if (owners.length === 0) yield `${table.noOwner}\n`;
  for (const [index, owner] of owners.entries()) {
    yield `${index === 0 ? "" : "\n\n"}${table.titleOf(owner, head)}\n\n`;
    if (standing !== undefined) yield `${standing}\n\n`;
    let widths: number[] | undefined;
    for await (const page of owner.pages()) {
      const rows = page.map((row) => table.cells(row).map(plainLine));
      // The first page decides: what is longer later on stands out of line, and is whole.
      if (!widths) {
        widths = widthsOf([table.head, ...rows]);
        yield line(table.head, widths, table.right);
      }
      for (const row of rows) yield line(row, widths, table.right);
    }
    if (!widths) yield `${table.noRows}\n`;
    yield `\n${table.sums(owner)}`;
    for (const note of notesOf(owner)) yield `\nNote: ${note}\n`;
  }
};

/** @param right columns that are aligned to the right, from 0 */
export function sumsTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[],
): string {
  const lines = plainTable(head, rows, right).split("\n");
  return lines.map((one) => `${one.trimEnd()}\n`).join("");
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const columns = rows[0]?.length ?? 0;
  return Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => lengthOf(row[column]))));
}

/** A table that is printed page by page cannot be laid out as a whole. */
function line(values: readonly string[], widths: readonly number[], right: readonly number[]): string {
  const padded = values.map((value, column) => {
    const gap = " ".repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(value)));
    return right.includes(column) ? `${gap}${value}` : `${value}${gap}`;
  });
  return `${padded.join("  ").trimEnd()}\n`;
}

const MOST_NAME = 28;

/** A name as a table has room for it. */
export function short(name: string): string {
  const characters = Array.from(name);
  return characters.length > MOST_NAME ? `${characters.slice(0, MOST_NAME - 1).join("")}…` : name;
}

function lengthOf(text = ""): number {
  return Array.from(text).length;
}
