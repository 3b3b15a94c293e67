import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { addFinding, differing, type Row, type RowFinding } from "./row-findings.ts";
import type { RowFindings } from "./row-findings.ts";
import type { Chain, ExpectedRows } from "./expected-rows.ts";
import { subjectsWithoutRow, type WantedRows } from "./without-row.ts";

/** A row as it is kept. */
export interface KeptRow {
  subject: string;
  /** A row that names no event is all that its events say. */
  row: Row & { event_number?: string };
}

/** Rows that name the event that they were written with. */
export interface ProvenRows<Kept extends KeptRow> extends WantedRows {
  /** Rows in memory at a time. */
  most: number;
  /** In the order of their key, those behind `after`. */
  read: (db: Queries, chain: Chain, after: Kept | undefined, most: number) => Promise<Kept[]>;
  expected: (db: Queries, chain: Chain, subjects: readonly string[]) => Promise<ExpectedRows>;
}

export interface RowsReport extends RowFindings {
  rows: number;
}

const PAGE_WITHIN_MS = 30_000;

/**
 * Holds the rows of a table that a chain tells of against its events, in pages: each row first, then which rows are
 * gone.
 * @throws LedgerUnavailableError
 */
export async function verifyRows<Kept extends KeptRow>(
  database: Database,
  chain: Chain,
  proven: ProvenRows<Kept>,
): Promise<RowsReport> {
  const { table, most } = proven;
  const report: RowsReport = { rows: 0, findings: [], moreFindings: 0 };
  for (let after: Kept | undefined; ;) {
    const from: Kept | undefined = after;
    const page = await database.transact((db) => readPage(db, chain, proven, from), PAGE_WITHIN_MS);
    for (const kept of page.rows)
      for (const finding of findingsOf(table, kept, page.expected)) addFinding(report, finding);
    report.rows += page.rows.length;
    if (page.rows.length < most) break;
    after = page.rows.at(-1);
  }
  for await (const subject of subjectsWithoutRow(database, chain, proven))
    addFinding(report, { kind: "row-missing", table, subject, row: subject });
  return report;
}

/** The rows and the events that tell of them, in one transaction that sees one state. */
async function readPage<Kept extends KeptRow>(
  db: Queries,
  chain: Chain,
  { read, expected, most }: ProvenRows<Kept>,
  after: Kept | undefined,
): Promise<{ rows: Kept[]; expected: ExpectedRows }> {
  await sql`set transaction isolation level repeatable read read only`.execute(db);
  const rows = await read(db, chain, after, most);
  const subjects = rows.map(({ subject }) => subject);
  return { rows, expected: await expected(db, chain, subjects) };
}

/** What of a row does not say what its events say. */
export function* findingsOf(
  table: ProvenRows<KeptRow>["table"],
  { subject, row }: KeptRow,
  expectedRows: ExpectedRows,
): Iterable<RowFinding> {
  const { last = null, expected } = expectedRows.get(subject) ?? {};
  const named = row.event_number === undefined ? last : Number(row.event_number);
  if (last !== named || last === null) {
    yield { kind: "row-behind", table, subject, event: named ?? 0, last };
    return;
  }
  if (expected === undefined) {
    yield { kind: "row-unproven", table, subject, event: last };
    return;
  }
  const columns = differing(expected.columns, row);
  if (columns.length > 0) yield { kind: "row-changed", table, subject, row: subject, columns };
}
