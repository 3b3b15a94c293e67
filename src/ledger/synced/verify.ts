import { createHash } from "node:crypto";

import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import {
  type Chain,
  type ExpectedRow,
  type ExpectedRows,
  expectedByAllEvents,
  type SubjectEvent,
} from "../rows/expected-rows.ts";
import { type Row, SOME_VALUE } from "../rows/row-findings.ts";
import { findingsOf, type KeptRow, type RowsReport, verifyRows } from "../rows/verify-rows.ts";
import { storableJson } from "../storable-text.ts";
import type { Collection, KeptColumns } from "./collection.ts";
import { contentOf, subjectOf } from "./events.ts";
import { ofOwner, readPage } from "./rows.ts";

/**
 * Holds each row of a collection that a chain tells of against the events that tell of it, in pages.
 * @throws LedgerUnavailableError
 */
export async function verifyCollection<Entry extends { id: string }>(
  database: Database,
  collection: Collection<Entry>,
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
export async function alteredAmong<Entry extends { id: string }>(
  db: Queries,
  collection: Collection<Entry>,
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

function keptOf<Entry extends { id: string }>(collection: Collection<Entry>, row: KeptColumns): Kept {
  const id = String(row[collection.idColumn]);
  return { id, subject: subjectOf(collection, id), row };
}

/** What an entry says, as columns. */
export function contentColumns<Entry extends { id: string }>(
  { columnsOf, fieldsApart }: Pick<Collection<Entry>, "columnsOf" | "fieldsApart">,
  entry: Entry,
): Row & Pick<KeptColumns, "content_hash" | "body"> {
  const body = storableJson(entry);
  const content = Object.entries(body).filter(([field]) => !fieldsApart.includes(field));
  return {
    ...columnsOf(entry),
    content_hash: createHash("sha256")
      .update(canonicalJson(Object.fromEntries(content)))
      .digest("hex"),
    body: canonicalJson(body),
  };
}

/** What the events of a chain say that these rows are. */
function expectedRowsOf<Entry extends { id: string }>(
  db: Queries,
  collection: Collection<Entry>,
  chain: Chain,
  subjects: readonly string[],
): Promise<ExpectedRows> {
  return expectedByAllEvents<State>(db, chain, {
    kinds: kindsOf(collection),
    subjects,
    after: (before, event) => stateAfter(collection, before, event),
    expectedBy: (state, last) => expectedRowOf(collection, state, last),
  });
}

function kindsOf({ events }: Pick<Collection<never>, "events">): string[] {
  return [events.seen, events.missing];
}

interface State {
  /** Not there where the first events of an entry are gone. */
  entry?: unknown;
  status: unknown;
  isMissing: boolean;
}

const UNSEEN: State = { status: null, isMissing: false };

function stateAfter(collection: Parameters<typeof contentOf>[0], before: State = UNSEEN, event: SubjectEvent): State {
  const { changes, entry } = contentOf(collection, event.content);
  const state = { ...before, ...(entry !== undefined && { entry }) };
  for (const { what, after } of changes) {
    if (what === "first-seen") state.status = (after as { status: unknown }).status;
    else if (what === "status") state.status = after;
    else if (what === "missing") state.isMissing = true;
    // A row that was deleted while it was missing is seen for the first time again.
    if (what === "first-seen" || what === "returned") state.isMissing = false;
  }
  return state;
}

function expectedRowOf<Entry extends { id: string }>(
  collection: Collection<Entry>,
  { entry, status, isMissing }: State,
  { writer }: SubjectEvent,
): ExpectedRow {
  if (entry === undefined) throw new Error("no event tells what was seen first");
  return {
    columns: {
      ...contentColumns(collection, entry as Entry),
      ...collection.columnsOfStatus?.(status),
      missing_since: isMissing ? SOME_VALUE : null,
      ...writer,
    },
  };
}
