import type { Config } from "../../config/index.ts";
import type { Days, Ledger } from "../../ledger/index.ts";
import type { SellerOf } from "../report/seller-of.ts";
import type { Scope } from "../sale/scope.ts";

/** What a list says before its rows. */
export interface ListHead {
  days: Days;
  madeAtMs: number;
  /** Why the list is not final; undefined where it is. */
  standing: string | undefined;
  sellerOf: SellerOf;
}

/** Whose rows they are: a business, or an accounting connection. */
export interface Owner<Row> {
  connection: string;
  /** To be read once, to its end, one owner after the other. */
  pages: () => AsyncIterable<Row[]>;
}

/** All in which the list of one kind of row differs from another: which rows, and as what they are written. */
export interface PeriodList<One extends Owner<Row>, Row> {
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
  /** As of when the service was read; absent where the ledger itself is what is listed. */
  asOf?: (owner: One) => string;
  /** Where several are listed together. */
  nameOf: (owner: One) => string;
  csv: (owners: readonly One[]) => CsvColumns<Row>;
  json: JsonFields<One, Row>;
  table: Table<One, Row>;
}

export interface CsvColumns<Row> {
  head: readonly string[];
  cells: (row: Row) => string[];
}

export interface JsonFields<One, Row> {
  /** The names of the two lists, one within the other. */
  owners: string;
  rows: string;
  /** Beside the rows of an owner. Times of Unix milliseconds are written as ISO 8601. */
  figuresOf: (owner: One, head: ListHead) => object;
  rowOf: (row: Row) => object;
  /** Fields that hold decimal texts; they are written with two places at least. */
  amounts: ReadonlySet<string>;
}

export interface Table<One, Row> {
  titleOf: (owner: One, head: ListHead) => string;
  head: readonly string[];
  /** Columns that are aligned to the right, from 0. */
  right: readonly number[];
  cells: (row: Row) => string[];
  /** The sums below the rows; it ends with a line feed. */
  sums: (owner: One) => string;
  /** Where an owner has no rows, and where there is no owner. */
  noRows: string;
  noOwner: string;
}
