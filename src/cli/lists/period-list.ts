import { nairobiInstant } from "../../contract/nairobi-date.ts";
import { plainText } from "../../contract/plain-text.ts";
import type { Config } from "../../config/index.ts";
import type { Days, Ledger } from "../../ledger/index.ts";
import type { CliContext } from "../context.ts";
import { BYTE_ORDER_MARK, csvLine } from "../csv.ts";
import { formatOf } from "../format.ts";
import { withInstants } from "../instants.ts";
import { jsonText, printNote } from "../output.ts";
import { columnWidths, tableLine } from "../plain-table.ts";
import { withAmounts } from "../report/money.ts";
import { configuredSeller, type SellerOf, standingOf } from "../report/asked.ts";
import type { Scope } from "../sale/scope.ts";
import { refuseExisting, writeResult } from "../whole-file.ts";
import { withLedger } from "../with-ledger.ts";
import { type AmountFields, amountColumns, type Column, csvCells, tableCells } from "./columns.ts";
import type { AskedList } from "./register-lists.ts";

/** What a list says before its rows. */
interface ListHead {
  days: Days;
  madeAtMs: number;
  /** Why the list is not final; undefined where it is. */
  standing: string | undefined;
  sellerOf: SellerOf;
}

/** Whose rows they are: a business, or an accounting connection. */
interface Owner<Row> {
  connection: string;
  /** To be read once, to its end, one owner after the other. */
  pages: () => AsyncIterable<Row[]>;
}

/** The rows that a period has in the ledger: all in which one kind differs from another. */
export interface PeriodList<One extends Owner<Row>, Row, Told> {
  /** Gives `write` the owners, all from one state of the ledger. */
  read: (
    ledger: Ledger,
    request: { days: Days; connection: string | undefined; businessId: string | undefined },
    write: (owners: readonly One[]) => Promise<void>,
  ) => Promise<void>;
  /** @throws UsageError where neither the ledger nor the configuration has what the flags name */
  refuseUnknown: (ledger: Ledger, config: Config, flags: Scope) => Promise<void>;
  /** What the list leaves out in silence: configured, and without rows in the ledger. */
  absentNote: (config: Config, flags: Scope, owners: readonly One[]) => string | undefined;
  /** What a reader of the list must know of its sums. */
  notesOf: (owner: One) => string[];
  /** As of when the service was read, which the title has; absent where the ledger itself is what is listed. */
  asOf?: (owner: One) => string;
  titleOf: (owner: One, head: ListHead) => string;
  /** Where several are listed together. */
  nameOf: (owner: One) => string;
  /** Of the JSON: the names of the two lists, one within the other. */
  fields: readonly [owners: string, rows: string];
  /** Of the JSON, beside the rows of an owner. */
  figuresOf: (owner: One, head: ListHead) => object;
  /** A row as all formats tell it. */
  told: (row: Row) => Told;
  columns: (owners: readonly One[]) => readonly Column<Told>[];
  /** Of rows and figures. */
  amounts: AmountFields;
  /** The tables of the sums below the rows. */
  sums: (owner: One) => string[];
  /** Where an owner has no rows, and where there is no owner. */
  noRows: string;
  noOwner: string;
}

type Render = <One extends Owner<Row>, Row, Told>(
  list: PeriodList<One, Row, Told>,
  head: ListHead,
  owners: readonly One[],
) => AsyncGenerator<string>;

/** Writes the list as it is read, to standard output or to a file. */
export async function runList<One extends Owner<Row>, Row, Told>(
  context: CliContext,
  list: PeriodList<One, Row, Told>,
  { kind, days, flags }: AskedList,
): Promise<void> {
  const { bom = false, out, force = false, connection, business: businessId } = flags;
  const format = formatOf(flags, { ".csv": "csv", ".txt": "text" });
  if (out !== undefined && !force) await refuseExisting(out);
  const madeAtMs = Date.now();
  const standing = standingOf({ kind, ...days }, madeAtMs);
  await withLedger(
    context,
    async (ledger, config) => {
      await list.refuseUnknown(ledger, config, flags);
      await list.read(ledger, { days, connection, businessId }, async (owners) => {
        const head: ListHead = { days, madeAtMs, standing, sellerOf: configuredSeller(config) };
        // The table says it itself.
        if (standing !== undefined && format !== "text") printNote(context, standing);
        const render = { csv: renderCsv, json: renderJson, text: renderTable }[format];
        await writeResult(context, flags, withMark(render(list, head, owners), bom));
        if (format === "csv") for (const note of csvNotes(list, owners)) printNote(context, note);
        const absent = list.absentNote(config, flags, owners);
        if (absent !== undefined) printNote(context, absent);
      });
    },
    { forMachines: format !== "text" },
  );
}

async function* withMark(pieces: AsyncIterable<string>, bom: boolean): AsyncGenerator<string> {
  if (bom) yield BYTE_ORDER_MARK;
  yield* pieces;
}

function csvNotes<One extends Owner<Row>, Row, Told>(
  list: PeriodList<One, Row, Told>,
  owners: readonly One[],
): string[] {
  return owners.flatMap((owner) => {
    const name = owners.length > 1 ? `${list.nameOf(owner)}: ` : "";
    const asOf = list.asOf ? [`${list.asOf(owner)}.`] : [];
    return [...asOf, ...list.notesOf(owner)].map((note) => `Note: ${name}${note}`);
  });
}

/** One line for each row. As in the report, each says when it was made: lines of several files can be put together. */
export const renderCsv: Render = async function* renderCsv({ columns, amounts, told }, { madeAtMs }, owners) {
  const written = columns(owners).filter(({ csv }) => csv !== undefined);
  const line = (cells: readonly (string | undefined)[]): string => `${csvLine(cells.map((cell) => cell ?? ""))}\r\n`;
  const madeAt = nairobiInstant(madeAtMs);
  yield line([...written.map(({ csv }) => csv), "made_at"]);
  for (const { pages } of owners)
    for await (const page of pages())
      yield page.map((row) => line([...csvCells(written, amounts, told(row)), madeAt])).join("");
};

/** One JSON document, with each row on a line. */
const renderJson: Render = async function* renderJson({ fields, figuresOf, told, amounts }, head, owners) {
  const json = (data: unknown): string => jsonText(withInstants(withAmounts(data, amounts)));
  const { days: period, madeAtMs, standing = null } = head;
  const [ownersField, rowsField] = fields;
  yield `${json({ period, madeAtMs, standing }).slice(0, -1)},"${ownersField}":[`;
  for (const [index, owner] of owners.entries()) {
    yield `${index === 0 ? "" : ","}\n${json(figuresOf(owner, head)).slice(0, -1)},"${rowsField}":[`;
    let between = "\n";
    for await (const page of owner.pages()) {
      yield `${between}${page.map((row) => json(told(row))).join(",\n")}`;
      between = ",\n";
    }
    yield "]}";
  }
  yield "]}\n";
};

/** A table for each owner, its sums, and what they leave out. */
const renderTable: Render = async function* renderTable(list, head, owners) {
  const { standing } = head;
  const { columns, amounts, told } = list;
  const shown = columns(owners).filter((column) => column.head !== undefined);
  const names = shown.map((column) => column.head ?? "");
  const right = amountColumns(shown, amounts);
  if (owners.length === 0) yield `${list.noOwner}\n`;
  for (const [index, owner] of owners.entries()) {
    yield `${index === 0 ? "" : "\n\n"}${plainText(list.titleOf(owner, head))}\n\n`;
    if (standing !== undefined) yield `${standing}\n\n`;
    let widths: number[] | undefined;
    for await (const page of owner.pages()) {
      let rows = page.map((row) => tableCells(shown, amounts, told(row)));
      // The first page decides how wide the columns are: the table is printed as it is read.
      if (!widths) rows = [names, ...rows];
      widths ??= columnWidths(rows);
      for (const row of rows) yield `${tableLine(row, widths, right)}\n`;
    }
    if (!widths) yield `${list.noRows}\n`;
    for (const sums of list.sums(owner)) yield `\n${sums}\n`;
    for (const note of list.notesOf(owner)) yield `\nNote: ${plainText(note)}\n`;
  }
};
