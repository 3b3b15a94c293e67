import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import {
  DOCUMENT_SAVED,
  documentColumns,
  lineColumns,
  movementColumns,
  movementsOf,
  type RecordContent,
} from "./columns.ts";
import {
  addFinding,
  type Chain,
  differing,
  type LastTold,
  lastTold,
  MOST_FINDINGS,
  type Row,
  type RowFinding,
  type RowFindings,
  type Table,
} from "./row-findings.ts";

export interface RecordsReport extends RowFindings {
  documents: number;
}

/** Documents in memory at a time, with their lines, movements and events. */
const PAGE = 50;
const PAGE_WITHIN_MS = 30_000;

/**
 * Holds each document of a business, with its lines and movements, against the event that it was written with, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifyRecords(database: Database, chain: Chain): Promise<RecordsReport> {
  const report: RecordsReport = { documents: 0, findings: [], moreFindings: 0 };
  const find = (finding: RowFinding): void => addFinding(report, finding);
  let after: { type: string; number: string } | undefined = { type: "", number: "" };
  while (after) {
    const from: { type: string; number: string } = after;
    const page = await database.transact((db) => readPage(db, chain, from));
    for (const document of page.documents) {
      report.documents += 1;
      for (const finding of findingsOf(document, page)) find(finding);
    }
    const last: Row | undefined = page.documents.at(-1);
    after =
      page.documents.length < PAGE || !last
        ? undefined
        : { type: String(last["type"]), number: String(last["number"]) };
  }
  for (const subject of await database.query((db) => withoutRow(db, chain), PAGE_WITHIN_MS))
    find({ kind: "row-missing", table: "documents", subject, row: subject });
  return report;
}

interface Page {
  documents: Row[];
  lines: Row[];
  movements: Row[];
  /** By subject: the last event that says all of the document. */
  last: LastTold;
}

/** One statement for each table, in one transaction that sees one state. */
async function readPage(db: Queries, chain: Chain, after: { type: string; number: string }): Promise<Page> {
  await sql`set transaction isolation level repeatable read read only`.execute(db);
  const { connection, business_id } = chain;
  const documents = await db
    .selectFrom("documents")
    .selectAll()
    .where("connection", "=", connection)
    .where("business_id", "=", business_id)
    .where(sql<boolean>`(type, number) > (${after.type}, ${after.number})`)
    .orderBy("type")
    .orderBy("number")
    .limit(PAGE)
    .execute();
  const until = documents.at(-1);
  if (!until) return { documents, lines: [], movements: [], last: new Map() };
  const inPage = sql<boolean>`(type, number) > (${after.type}, ${after.number}) and (type, number) <= (${until.type}, ${until.number})`;
  const rowsOf = (table: "document_lines" | "stock_movements") =>
    db
      .selectFrom(table)
      .selectAll()
      .where("connection", "=", connection)
      .where("business_id", "=", business_id)
      .where(inPage)
      .execute();
  const subjects = documents.map(({ type, number }) => `${type} ${number}`);
  return {
    documents,
    lines: await rowsOf("document_lines"),
    movements: await rowsOf("stock_movements"),
    last: await lastTold(db, chain, DOCUMENT_SAVED, subjects),
  };
}

function* findingsOf(document: Row, page: Page): Iterable<RowFinding> {
  const subject = `${String(document["type"])} ${String(document["number"])}`;
  const event = page.last.get(subject);
  const named = Number(document["event_number"]);
  if (event?.number !== named) {
    yield { kind: "row-behind", table: "documents", subject, event: named, last: event?.number ?? null };
    return;
  }
  const content = JSON.parse(event.content) as RecordContent;
  const columns = differing(documentColumns(content), document);
  if (columns.length > 0) yield { kind: "row-changed", table: "documents", subject, row: subject, columns };
  const own = (row: Row): boolean => row["type"] === document["type"] && row["number"] === document["number"];
  const lines = (content.document?.lines ?? []).map(lineColumns);
  yield* compare("document_lines", "line", subject, lines, page.lines.filter(own));
  const movements = movementsOf(content).map(movementColumns);
  yield* compare("stock_movements", "reference_id", subject, movements, page.movements.filter(own));
}

function* compare(table: Table, key: string, subject: string, expected: Row[], actual: Row[]): Iterable<RowFinding> {
  const left = new Map(actual.map((row) => [String(row[key]), row]));
  for (const wanted of expected) {
    const row = String(wanted[key]);
    const found = left.get(row);
    left.delete(row);
    const columns = found ? differing(wanted, found) : [];
    if (!found) yield { kind: "row-missing", table, subject, row };
    else if (columns.length > 0) yield { kind: "row-changed", table, subject, row, columns };
  }
  for (const row of left.keys()) yield { kind: "row-extra", table, subject, row };
}

/** Subjects whose document is told of, and is not there. */
async function withoutRow(db: Queries, { connection, business_id }: Chain): Promise<string[]> {
  const { rows } = await sql<{ subject: string }>`
    select distinct subject from events as e
    where connection = ${connection} and business_id = ${business_id} and kind = ${DOCUMENT_SAVED}
      and not exists (
        select from documents as d where d.connection = ${connection} and d.business_id = ${business_id}
          and d.type || ' ' || d.number = e.subject)
    limit ${MOST_FINDINGS}`.execute(db);
  return rows.map(({ subject }) => subject);
}
