import { createHash } from "node:crypto";

import type { Database, Queries } from "../database.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import {
  type Chain,
  findingsOf,
  type ProvenRows,
  type Row,
  type RowsReport,
  SOME_VALUE,
  type SubjectEvent,
  verifyRows,
} from "../events/verify-rows.ts";
import { storableJson } from "../storable-text.ts";
import type { Collection, KeptColumns } from "./collection.ts";
import { contentOf } from "./events.ts";

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
  return await verifyRows(database, chain, [provenRows(collection, owner)]);
}

/** The ids of those rows of an owner that do not say what the events of the chain say. */
export async function alteredAmong<Entry extends { id: string }>(
  db: Queries,
  collection: Collection<Entry>,
  chain: Chain,
  rows: readonly KeptColumns[],
): Promise<string[]> {
  const { events, ownerOfChain } = collection;
  const found = await findingsOf(db, chain, provenRows(collection, ownerOfChain(chain) ?? {}), rows);
  return found.map(({ subject }) => subject.slice(events.noun.length + 1));
}

function provenRows<Entry extends { id: string }>(collection: Collection<Entry>, owner: Row): ProvenRows<State> {
  const { table, idColumn, events } = collection;
  return {
    table,
    owner,
    idColumn,
    noun: events.noun,
    kinds: [events.seen, events.missing],
    after: (before, event) => stateAfter(collection, before, event),
    columnsOf: (state, last) => columnsAfter(collection, state, last),
  };
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

function columnsAfter<Entry extends { id: string }>(
  collection: Collection<Entry>,
  { entry, status, isMissing }: State,
  { writer }: SubjectEvent,
): Row {
  if (entry === undefined) throw new Error("no event tells what was seen first");
  return {
    ...contentColumns(collection, entry as Entry),
    ...collection.columnsOfStatus?.(status),
    missing_since: isMissing ? SOME_VALUE : null,
    ...writer,
  };
}
