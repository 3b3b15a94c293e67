import type { Config } from "../../config/index.ts";
import { nairobiInstant } from "../../contract/nairobi-date.ts";
import { plainText } from "../../contract/plain-text.ts";
import type { Days, Ledger } from "../../ledger/index.ts";
import type { CliContext } from "../context.ts";
import type { Scope } from "../options.ts";
import { formatOf, jsonText, printNote, withInstants, writeOutput } from "../output.ts";
import { configuredSeller, type SellerOf, standingOf } from "../report/asked.ts";
import { amountColumns, type Column, columnWidths, csvCells, csvLine, tableCells, tableLine } from "../tables.ts";
import { withLedger } from "../with-ledger.ts";
import { type AskedList, LIST_FORMATS } from "../register-outputs.ts";

interface ListHead {
  days: Days;
  madeAtMs: number;
  /** Why the list is not final; undefined where it is. */
  standing: string | undefined;
  sellerOf: SellerOf;
}

/** Whose rows they are: a business, or an accounting connection. */
interface Owner<Row> {
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
  titleOf: (owner: One, head: ListHead) => string;
  /** What stands below the rows: the tables of the sums, and what a reader must know of them. */
  below: (owner: One) => string[];
  /** Of the JSON: the names of the two lists, one within the other. */
  fields: readonly [owners: string, rows: string];
  /** Of the JSON, beside the rows of an owner. */
  figuresOf: (owner: One, head: ListHead) => object;
  /** A row as all formats tell it. */
  told: (row: Row) => Told;
  columns: (owners: readonly One[]) => readonly Column<Told>[];
  /** Where there is no owner. */
  noOwner: string;
}

type Render = <One extends Owner<Row>, Row, Told>(
  list: PeriodList<One, Row, Told>,
  head: ListHead,
  owners: readonly One[],
) => AsyncGenerator<string>;

export async function runList<One extends Owner<Row>, Row, Told>(
  context: CliContext,
  list: PeriodList<One, Row, Told>,
  { kind, days, flags }: AskedList,
): Promise<void> {
  const { connection, business: businessId } = flags;
  const format = formatOf(flags, LIST_FORMATS);
  const madeAtMs = Date.now();
  const standing = standingOf({ kind, ...days }, madeAtMs);
  await withLedger(
    context,
    async (ledger, config) => {
      await list.refuseUnknown(ledger, config, flags);
      await list.read(ledger, { days, connection, businessId }, async (owners) => {
        const head: ListHead = { days, madeAtMs, standing, sellerOf: configuredSeller(config) };
        const render = { csv: renderCsv, json: renderJson, text: renderTable }[format];
        await writeOutput(context, flags.out, render(list, head, owners));
        if (format === "json" && standing !== undefined) printNote(context, standing);
        // What the table says around its rows.
        if (format === "csv")
          for (const owner of owners)
            printNote(context, [...above(list, head, owner), ...list.below(owner)].join("\n\n"));
      });
    },
    { quiet: format !== "text" },
  );
}

function above<One extends Owner<Row>, Row, Told>(
  { titleOf }: PeriodList<One, Row, Told>,
  head: ListHead,
  owner: One,
): string[] {
  return [titleOf(owner, head), ...(head.standing === undefined ? [] : [head.standing])];
}

/** Each line says when it was made: lines of several files can be put together. */
export const renderCsv: Render = async function* renderCsv({ columns, told }, { madeAtMs }, owners) {
  const written = columns(owners).filter(({ csv }) => csv !== undefined);
  const line = (cells: readonly string[]): string => `${csvLine(cells)}\r\n`;
  const madeAt = nairobiInstant(madeAtMs);
  yield line([...written.map(({ csv = "" }) => csv), "made_at"]);
  for (const { pages } of owners)
    for await (const page of pages()) yield page.map((row) => line([...csvCells(written, told(row)), madeAt])).join("");
};

/** One JSON document, with each row on a line. */
const renderJson: Render = async function* renderJson({ fields, figuresOf, told }, head, owners) {
  const json = (data: unknown): string => jsonText(withInstants(data));
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

const renderTable: Render = async function* renderTable(list, head, owners) {
  const shown = list.columns(owners).filter((column) => column.head !== undefined);
  const names = shown.map((column) => column.head ?? "");
  const right = amountColumns(shown);
  if (owners.length === 0) yield `${list.noOwner}\n`;
  for (const [index, owner] of owners.entries()) {
    yield `${index === 0 ? "" : "\n\n"}${plainText(above(list, head, owner).join("\n\n"))}\n\n`;
    let widths: number[] | undefined;
    for await (const page of owner.pages()) {
      let rows = page.map((row) => tableCells(shown, list.told(row)));
      // The first page decides how wide the columns are: the table is printed as it is read.
      if (!widths) rows = [names, ...rows];
      widths ??= columnWidths(rows);
      for (const row of rows) yield `${tableLine(row, widths, right)}\n`;
    }
    if (!widths) yield "None.\n";
    for (const text of list.below(owner)) yield `\n${plainText(text)}\n`;
  }
};
