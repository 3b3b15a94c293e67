import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { type Row, SOME_VALUE } from "../rows/row-findings.ts";
import { type Chain, type Said, toldByAll, type ToldEvent } from "../rows/told.ts";
import { type KeptRow, type RowsReport, verifyRows } from "../rows/verify-rows.ts";
import { rowsBy } from "../statements.ts";
import type { Collection } from "./collection.ts";
import { contentOf, subjectOf } from "./events.ts";
import { contentColumns } from "./keep-page.ts";
import { ofIds, ofOwner, readPage } from "./rows.ts";

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
  const { table, idColumn, events } = collection;
  const kinds = [events.seen, events.missing];
  const saidBy = (state: State, last: ToldEvent) => saidOf(collection, state, last);
  const after = (before: State | undefined, event: ToldEvent) => stateAfter(collection, before, event);
  return await verifyRows<Kept>(database, chain, {
    table,
    kinds,
    most: 200,
    read: (db, _chain, last, most) => read(db, collection, owner, { afterId: last?.id, most }),
    told: (db, _chain, subjects) => toldByAll(db, chain, { kinds, subjects, after, saidBy }),
    isToldOf: () => sql<boolean>`
      ${ofOwner(Object.fromEntries(Object.entries(owner).map(([column, value]) => [`kept.${column}`, value])))}
        and ${sql.ref(`kept.${idColumn}`)} = substr(told.subject, ${subjectOf(collection, "").length + 1})`,
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

interface State {
  /** Not there where the first events of an entry are gone. */
  entry?: unknown;
  status: unknown;
  isMissing: boolean;
}

const UNSEEN: State = { status: null, isMissing: false };

function stateAfter(collection: Parameters<typeof contentOf>[0], before: State = UNSEEN, event: ToldEvent): State {
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

function saidOf<Entry extends { id: string }, Asked>(
  collection: Collection<Entry, Asked>,
  { entry, status, isMissing }: State,
  { writer }: ToldEvent,
): Said {
  if (entry === undefined) throw new Error("no event tells what was seen first");
  const { lines, columnsOfStatus } = collection;
  const columns = {
    ...contentColumns(collection, entry as Entry),
    ...columnsOfStatus?.(status),
    missing_since: isMissing ? SOME_VALUE : null,
    ...writer,
  };
  if (lines === undefined) return { columns };
  return { columns, parts: [{ table: lines.table, key: lines.key, rows: lines.rowsOf(entry as Entry) }] };
}
