import { sql } from "kysely";

import { afterEvent, type Columns, columnsOf } from "../claims/claim.ts";
import type { Database, Queries } from "../database.ts";
import type { RowFindings } from "../rows/row-findings.ts";
import {
  type Chain,
  expectedByAllEvents,
  expectedByLastEvent,
  type ExpectedRow,
  type ExpectedRows,
  type SubjectEvent,
} from "../rows/expected-rows.ts";
import { type KeptRow, type ProvenRows, verifyRows } from "../rows/verify-rows.ts";
import { CLAIM_CHANGES, NO_CLAIM } from "./claim-row.ts";
import { DOCUMENT_SAVED, documentColumns, type RowContent } from "./columns.ts";

export interface DocumentsReport extends RowFindings {
  documents: number;
  /** Of these, sales and credit notes that have no document at the service, as far as the ledger knows. */
  withoutDocument: number;
}

const COUNT_WITHIN_MS = 30_000;

/**
 * Holds each document of a business against the events that tell of it, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifyDocuments(database: Database, chain: Chain): Promise<DocumentsReport> {
  const { rows: documents, ...found } = await verifyRows(database, chain, DOCUMENTS);
  const withoutDocument = await database.transact((db) => countWithout(db, chain), COUNT_WITHIN_MS);
  return { documents, withoutDocument, ...found };
}

async function countWithout(db: Queries, { connection, business_id }: Chain): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from documents
    where connection = ${connection} and business_id = ${business_id} and document_id is null`.execute(db);
  return rows[0]?.count ?? 0;
}

interface KeptDocument extends KeptRow {
  row: KeptRow["row"] & DocumentKey;
}

const DOCUMENTS: ProvenRows<KeptDocument> = {
  table: "documents",
  kinds: [DOCUMENT_SAVED],
  most: 200,
  read: (db, chain, after, most) => readDocuments(db, chain, after?.row ?? { type: "", number: "" }, most),
  expected: expectedRows,
  isRowOfSubject: (chain) => sql<boolean>`
    kept.connection = ${chain.connection} and kept.business_id = ${chain.business_id}
      and kept.type = split_part(subjects.subject, ' ', 1) and kept.number = substr(subjects.subject, strpos(subjects.subject, ' ') + 1)`,
};

interface DocumentKey {
  type: string;
  number: string;
}

function subjectOfRow({ type, number }: DocumentKey): string {
  return `${type} ${number}`;
}

async function readDocuments(
  db: Queries,
  { connection, business_id }: Chain,
  after: DocumentKey,
  most: number,
): Promise<KeptDocument[]> {
  const documents = await db
    .selectFrom("documents")
    .selectAll()
    .where((eb) => eb.and({ connection, business_id }))
    .where(sql<boolean>`(type, number) > (${after.type}, ${after.number})`)
    .orderBy("type")
    .orderBy("number")
    .limit(most)
    .execute();
  return documents.map((row) => ({ subject: subjectOfRow(row), row }));
}

/** The last event says all of a document but its claim, of which each event says what changed. */
async function expectedRows(db: Queries, chain: Chain, subjects: readonly string[]): Promise<ExpectedRows> {
  const rows = await expectedByLastEvent(db, chain, { kind: DOCUMENT_SAVED, subjects, expectedBy });
  const claims = await expectedByAllEvents<Columns>(db, chain, {
    kinds: CLAIM_CHANGES,
    subjects,
    after: (before = NO_CLAIM, { content }) => afterEvent(before, content),
    expectedBy: (claim) => ({ columns: { ...columnsOf(claim) } }),
  });
  return new Map(
    [...rows].map(([subject, row]) => {
      const claim = claims.has(subject) ? claims.get(subject)?.expected : { columns: NO_CLAIM };
      const expected = row.expected && claim && { columns: { ...row.expected.columns, ...claim.columns } };
      return [subject, { last: row.last, expected }];
    }),
  );
}

function expectedBy({ content }: SubjectEvent): ExpectedRow {
  return { columns: documentColumns(JSON.parse(content) as RowContent) };
}
