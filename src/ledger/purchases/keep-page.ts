import { sql } from "kysely";

import type { Purchase } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import { type Change, changesBetween, type PurchaseState, stateOf } from "./compare.ts";
import { seenEvent } from "./events.ts";
import type { KeepPageRequest, KeptPage } from "./purchases.ts";
import { lockBusiness, purchaseColumns, type PurchaseRow, readRows, type ScopeColumns } from "./row.ts";
import { stateOfRow, writerColumns } from "./row.ts";

interface Seen {
  id: string;
  columns: ReturnType<typeof purchaseColumns>;
  state: PurchaseState;
}

/**
 * Keeps one page of the list, and tells of what is new in it in the business's events. A page that is kept twice changes nothing the
 * second time, and one that was asked for before what the row has was asked for does not replace it: an attempt that was given up may
 * still be on its way.
 */
export async function keepPage(db: Queries, request: KeepPageRequest): Promise<KeptPage> {
  const scope = businessColumns(request);
  await lockBusiness(db, scope);
  const seen = request.purchases.map((purchase): Seen => {
    const state = stateOf(purchase);
    return { id: storableText(purchase.id), columns: purchaseColumns(purchase, state), state };
  });
  // Of an id that a page has twice, the last one counts.
  const byId = new Map(seen.map((one) => [one.id, one]));
  const leftOut = (request.leftOut ?? []).map(storableText);
  const known = await readRows(db, scope, [...byId.keys(), ...leftOut]);
  // Listed, and not readable: as far as is known it is what it was.
  for (const id of leftOut) {
    const row = known.get(id);
    if (row && !byId.has(id)) byId.set(id, asKept(id, row));
  }
  const news: { one: Seen; changes: Change[] }[] = [];
  const unchanged: string[] = [];
  for (const one of byId.values()) {
    const row = known.get(one.id);
    if (row && row.observed_at.getTime() > request.askedAtMs) continue;
    const changes = changesOf(row, one.state);
    if (changes.length > 0) news.push({ one, changes });
    else unchanged.push(one.id);
  }
  const events = news.map(({ one, changes }) => seenEvent(one.id, changes, one.state.body, request.writer));
  const numbers = await appendEvents(db, request, events);
  await write(
    db,
    scope,
    news.map(({ one }, index) => ({ one, eventNumber: numbers[index] ?? 0 })),
    request,
  );
  await markSeen(db, scope, unchanged, request);
  const added = news.filter(({ one }) => !known.has(one.id)).length;
  const knownAtEnd = seen.length - 1 - seen.findLastIndex(({ id }) => known.get(id)?.grounded !== true);
  return { rows: seen.length, added, changed: news.length - added, knownAtEnd };
}

function asKept(id: string, row: PurchaseRow): Seen {
  const purchase = JSON.parse(row.body) as Purchase;
  const state = stateOfRow(row);
  return { id, columns: purchaseColumns(purchase, state), state };
}

function changesOf(row: PurchaseRow | undefined, state: PurchaseState): Change[] {
  const { status, confirmationError } = state;
  if (row === undefined) return [{ what: "first-seen", before: null, after: { status, confirmationError } }];
  const changes = changesBetween(stateOfRow(row), state);
  return row.missing_since === null ? changes : [...changes, { what: "returned", before: null, after: null }];
}

/** What a look leaves on every row that it saw. */
function markOf({ syncId, pass, askedAtMs }: KeepPageRequest) {
  return {
    observed_at: new Date(askedAtMs),
    seen_by: syncId,
    missing_since: null,
    ...(pass === "list" && { listed_by: syncId }),
  };
}

async function write(
  db: Queries,
  scope: ScopeColumns,
  written: readonly { one: Seen; eventNumber: number }[],
  request: KeepPageRequest,
): Promise<void> {
  if (written.length === 0) return;
  const mark = markOf(request);
  const writer = writerColumns(request.writer);
  const rows = written.map(({ one, eventNumber }) => ({
    ...scope,
    purchase_id: one.id,
    ...one.columns,
    ...mark,
    event_number: eventNumber,
    ...writer,
  }));
  const key = ["connection", "business_id", "purchase_id"] as const;
  const replaced = Object.keys(rows[0] ?? {}).filter((name) => !key.some((one) => one === name));
  await db
    .insertInto("purchases")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns([...key]).doUpdateSet({
        ...Object.fromEntries(replaced.map((name) => [name, sql.ref(`excluded.${name}`)])),
        changed_at: sql`clock_timestamp()`,
      }),
    )
    .execute();
}

async function markSeen(
  db: Queries,
  scope: ScopeColumns,
  ids: readonly string[],
  request: KeepPageRequest,
): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable("purchases")
    .set(markOf(request))
    .where("connection", "=", scope.connection)
    .where("business_id", "=", scope.business_id)
    .where(sql<boolean>`purchase_id = any(${ids})`)
    .execute();
}
