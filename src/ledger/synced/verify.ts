import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import type { Row } from "../rows/row-findings.ts";
import type { Chain } from "../rows/expected-rows.ts";
import { type KeptRow, type RowsReport, verifyRows } from "../rows/verify-rows.ts";
import { rowsBy } from "../statements.ts";
import type { Collection } from "./collection.ts";
import { subjectOf } from "./events.ts";
import { ofIds, ofOwner, readPage } from "./rows.ts";
import { kindsOf, expectedRowsOf } from "./expected-rows.ts";

/**
 * Holds each row of a collection that a chain tells of, with its lines, against the events that tell of it, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifyCollection<Entry extends { id: string }, Asked>(
  database: Database,
  collection: Collection<Entry, Asked>,
  chain: Chain,
): Promise<RowsReport> {
  const owner = collection.ownerOfChain(chain);
  if (owner === undefined) return { rows: 0, findings: [], moreFindings: 0 };
  const { table, idColumn } = collection;
  return await verifyRows<Kept>(database, chain, {
    table,
    kinds: kindsOf(collection),
    most: 200,
    read: (db, _chain, last, most) => read(db, collection, owner, { afterId: last?.id, most }),
    expected: (db, _chain, subjects) => expectedRowsOf(db, collection, chain, subjects),
    isRowOfSubject: () => sql<boolean>`
      ${ofOwner(Object.fromEntries(Object.entries(owner).map(([column, value]) => [`kept.${column}`, value])))}
        and ${sql.ref(`kept.${idColumn}`)} = substr(subjects.subject, ${subjectOf(collection, "").length + 1})`,
  });
}

interface Kept extends KeptRow {
  id: string;
}

async function read<Entry extends { id: string }, Asked>(
  db: Queries,
  collection: Collection<Entry, Asked>,
  owner: Row,
  page: { afterId: string | undefined; most: number },
): Promise<Kept[]> {
  const { idColumn, lines } = collection;
  const rows = await readPage(db, collection, owner, page);
  const kept = rows.map((row) => ({ id: String(row[idColumn]), row }));
  const ids = kept.map(({ id }) => id);
  const parts =
    lines &&
    (await sql<Row>`select * from ${sql.table(lines.table)} where ${ofIds(collection, owner, ids)}`.execute(db));
  const partsOf = rowsBy(parts?.rows ?? [], (row) => String(row[idColumn]));
  return kept.map(({ id, row }) => ({
    id,
    subject: subjectOf(collection, id),
    row,
    ...(lines && { parts: { [lines.table]: partsOf.get(id) ?? [] } }),
  }));
}
