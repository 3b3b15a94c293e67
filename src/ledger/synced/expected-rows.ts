import { createHash } from "node:crypto";

import type { Queries } from "../database.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import { type Row, SOME_VALUE } from "../rows/row-findings.ts";
import {
  type Chain,
  type ExpectedRow,
  type ExpectedRows,
  expectedByAllEvents,
  type SubjectEvent,
} from "../rows/expected-rows.ts";
import { storableJson } from "../storable-text.ts";
import type { Collection, KeptColumns } from "./collection.ts";
import { contentOf } from "./events.ts";

/** What an entry says, as columns. */
export function contentColumns<Entry extends { id: string }>(
  { columnsOf, fieldsApart }: Pick<Collection<Entry, never>, "columnsOf" | "fieldsApart">,
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
export function expectedRowsOf<Entry extends { id: string }, Asked>(
  db: Queries,
  collection: Collection<Entry, Asked>,
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

export function kindsOf({ events }: Pick<Collection<never, never>, "events">): string[] {
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

function expectedRowOf<Entry extends { id: string }, Asked>(
  collection: Collection<Entry, Asked>,
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
