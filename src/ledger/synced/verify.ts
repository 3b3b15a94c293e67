import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import type { Chain } from "../rows/expected-rows.ts";
import { findingsOf, type KeptRow, type RowsReport, verifyRows } from "../rows/verify-rows.ts";
import type { Collection, KeptColumns } from "./collection.ts";
import { subjectOf } from "./events.ts";
import { ofOwner, readPage } from "./rows.ts";
import { kindsOf, expectedRowsOf } from "./expected-rows.ts";

/**
 * Holds each row of a collection that a chain tells of against the events that tell of it, in pages.
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
    read: async (db, _chain, last, most) =>
      (await readPage(db, collection, owner, { afterId: last?.id, most })).map((row) => keptOf(collection, row)),
    expected: (db, _chain, subjects) => expectedRowsOf(db, collection, chain, subjects),
    isRowOfSubject: () => sql<boolean>`
      ${ofOwner(Object.fromEntries(Object.entries(owner).map(([column, value]) => [`kept.${column}`, value])))}
        and ${sql.ref(`kept.${idColumn}`)} = substr(subjects.subject, ${subjectOf(collection, "").length + 1})`,
  });
}

/** The ids of those rows of an owner that do not say what the events of the chain say. */
export async function alteredAmong<Entry extends { id: string }, Asked>(
  db: Queries,
  collection: Collection<Entry, Asked>,
  chain: Chain,
  rows: readonly KeptColumns[],
): Promise<string[]> {
  const kept = rows.map((row) => keptOf(collection, row));
  const subjects = kept.map(({ subject }) => subject);
  const expected = await expectedRowsOf(db, collection, chain, subjects);
  return kept.filter((one) => [...findingsOf(collection.table, one, expected)].length > 0).map(({ id }) => id);
}

interface Kept extends KeptRow {
  id: string;
}

function keptOf<Entry extends { id: string }, Asked>(collection: Collection<Entry, Asked>, row: KeptColumns): Kept {
  const id = String(row[collection.idColumn]);
  return { id, subject: subjectOf(collection, id), row };
}
