import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import { writerColumns } from "../events/row.ts";
import { differing, type Row } from "../events/verify-rows.ts";
import { storableText } from "../storable-text.ts";
import type { Change, Collection, KeepPageRequest, KeptColumns, KeptPage } from "./collection.ts";
import { seenEvent } from "./events.ts";
import { lock, nameEvents, ofIds, readRows } from "./rows.ts";
import { contentColumns } from "./verify.ts";

interface Seen {
  id: string;
  columns: ReturnType<typeof contentColumns>;
}

interface Listed<Entry> extends Seen {
  entry: Entry;
}

interface News extends Seen {
  changes: Change[];
  /** Absent where the row says all of it already, or a later page shows otherwise. */
  body: string | undefined;
}

/**
 * Keeps one page, and tells of what is new in it in the events of its chain. A page that is kept twice changes nothing
 * the second time, and one that was asked for before what the row has was asked for does not replace it: an attempt
 * that was given up may still be on its way.
 */
export async function keepPage<Entry extends { id: string }>(
  db: Queries,
  collection: Collection<Entry>,
  page: KeepPageRequest<Entry>,
): Promise<KeptPage> {
  const owner = collection.ownerOf(page);
  await lock(db, collection, owner);
  const listed = (entry: Entry): [string, Listed<Entry>] => {
    const id = storableText(entry.id);
    return [id, { id, entry, columns: contentColumns(collection, entry) }];
  };
  // Of an id that a page has twice, the last one counts.
  const byId = new Map(page.entries.map(listed));
  const leftOut = [...new Set((page.leftOut ?? []).map(storableText))].filter((id) => !byId.has(id));
  const known = await readRows(db, collection, owner, [...byId.keys(), ...leftOut]);
  // Listed, and not readable: as far as is known it is what it was.
  const leftOutKnown = leftOut.flatMap((id): Seen[] => {
    const columns = known.get(id);
    return columns === undefined ? [] : [{ id, columns }];
  });
  const seen = [...byId.values(), ...leftOutKnown];
  const news = seen.flatMap((one) => newsOf(collection, known.get(one.id), one, page));
  const events = news.map((one) => seenEvent(collection, one, page.writer));
  const numbers = await appendEvents(db, collection.chainOf(page), events);
  const numberOf = new Map(news.map(({ id }, index) => [id, numbers[index] ?? 0]));
  const isKnown = (id: string): boolean => {
    const changedAt = known.get(id)?.changed_at;
    return changedAt !== undefined && !numberOf.has(id) && changedAt.getTime() <= (page.knownUntilMs ?? 0);
  };
  const isWritten = new Set(news.filter(({ body }) => body !== undefined).map(({ id }) => id));
  const written = [...byId.values()].filter(({ id }) => isWritten.has(id));
  await write(db, collection, page, written, numberOf);
  const others = [...numberOf].filter(([id]) => !isWritten.has(id));
  const changed = sql`greatest(changed_at, ${new Date(page.askedAtMs)})`;
  await nameEvents(db, collection, owner, new Map(others), { ...page, set: sql`changed_at = ${changed}` });
  await mark(
    db,
    collection,
    page,
    seen.map(({ id }) => id),
  );
  return {
    rows: page.entries.length,
    added: news.filter(({ id }) => !known.has(id)).length,
    changed: news.filter(({ changes }) => changes.some(isChange)).length,
    known: page.entries.length > 0 && [...byId.keys()].every((id) => isKnown(id)),
    ...(leftOutKnown.length > 0 && { leftOutKnown: leftOutKnown.length }),
  };
}

/** None where the row says all of it already, or a later page shows otherwise. */
function newsOf<Entry extends { id: string }>(
  collection: Collection<Entry>,
  row: KeptColumns | undefined,
  one: Seen,
  page: KeepPageRequest<Entry>,
): News[] {
  const { columns } = one;
  const { body } = columns;
  if (row === undefined) {
    const after = collection.firstSeen(columns, page);
    return [{ ...one, changes: [{ what: "first-seen", before: null, after }], body }];
  }
  if (differing(columns, row).length > 0 && !saysWhatItsBodySays(collection, row)) return [];
  const isLate = row.observed_at.getTime() > page.askedAtMs;
  const changes = collection.changesOf(row, columns, { ...page, isLate });
  if (!isLate && row.content_hash !== columns.content_hash)
    changes.push({ what: "content", ...changedFields(row.body, body, collection.fieldsApart) });
  if (!isLate && row.missing_since !== null) changes.push({ what: "returned", before: null, after: null });
  if (changes.length === 0) return [];
  return [{ ...one, changes, body: isLate || differing(columns, row).length === 0 ? undefined : body }];
}

/** Neither what is new, nor a status that is learned for the first time. */
function isChange({ what, before }: Change): boolean {
  return what !== "first-seen" && (what !== "status" || before !== null);
}

/** Of two bodies the fields in which they differ. */
function changedFields(bodyBefore: string, bodyAfter: string, without: readonly string[]): { before: Row; after: Row } {
  const [before, after] = [JSON.parse(bodyBefore) as Row, JSON.parse(bodyAfter) as Row];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter(
    (name) => !without.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return { before: only(before, changed), after: only(after, changed) };
}

/** Otherwise somebody has altered it: `ledger verify` names such a row, and nothing is told of it until it is mended. */
function saysWhatItsBodySays<Entry extends { id: string }>(collection: Collection<Entry>, row: KeptColumns): boolean {
  try {
    return differing(contentColumns(collection, JSON.parse(row.body) as Entry), row).length === 0;
  } catch {
    // No body of ours.
    return false;
  }
}

function only(fields: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));
}

/** Rows that are new, or say something else. */
async function write<Entry extends { id: string }>(
  db: Queries,
  collection: Collection<Entry>,
  page: KeepPageRequest<Entry>,
  written: readonly Listed<Entry>[],
  numberOf: ReadonlyMap<string, number>,
): Promise<void> {
  if (written.length === 0) return;
  const { table, idColumn } = collection;
  const owner = collection.ownerOf(page);
  const rows: Row[] = written.map(({ id, columns }) => ({
    ...owner,
    [idColumn]: id,
    ...columns,
    // As the page was asked for: a synchronisation's known ground ends when its last page was.
    changed_at: new Date(page.askedAtMs),
    observed_at: new Date(page.askedAtMs),
    event_number: numberOf.get(id) ?? 0,
    ...writerColumns(page.writer),
  }));
  const key = [...Object.keys(owner), idColumn];
  const replaced = Object.keys(rows[0] ?? {}).filter((name) => !key.includes(name));
  const replacing = replaced.map((name) => [name, sql.ref(`excluded.${name}`)]);
  await db
    .insertInto(table)
    .values(rows as never)
    .onConflict((conflict) => conflict.columns(key as never).doUpdateSet(Object.fromEntries(replacing)))
    .execute();
}

/** What a look leaves on every row that it saw, unless a later one was there before it. */
async function mark<Entry extends { id: string }>(
  db: Queries,
  collection: Collection<Entry>,
  page: KeepPageRequest<Entry>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const at = new Date(page.askedAtMs);
  const marks = [
    sql`missing_since = case when observed_at > ${at} then missing_since end`,
    sql`observed_at = greatest(observed_at, ${at})`,
    ...collection.marksOf(page),
  ];
  await sql`
    update ${sql.table(collection.table)} set ${sql.join(marks)}
    where ${ofIds(collection, collection.ownerOf(page), ids)}`.execute(db);
}
