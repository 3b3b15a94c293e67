import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import { type Change, changesBetween, type PurchaseState, stateOf } from "./compare.ts";
import type { KeepPageRequest, KeptPage } from "./purchases.ts";
import { lockBusiness, purchaseColumns, type PurchaseRow, type ScopeColumns, scopeColumns, stateOfRow } from "./row.ts";
import { writeHistory, writerColumns } from "./row.ts";

interface Seen {
  id: string;
  columns: ReturnType<typeof purchaseColumns>;
  state: PurchaseState;
}

/**
 * Keeps one page of the list. A page that is kept twice changes nothing the second time, and one that was asked for before what the row
 * has was asked for does not replace it: an attempt that was given up may still be on its way.
 */
export async function keepPage(db: Queries, request: KeepPageRequest): Promise<KeptPage> {
  const scope = scopeColumns(request);
  await lockBusiness(db, scope);
  const seen = request.purchases.map((purchase): Seen => {
    const state = stateOf(purchase);
    return { id: storableText(purchase.id), columns: purchaseColumns(purchase, state), state };
  });
  // Of an id that a page has twice, the last one counts.
  const byId = new Map(seen.map((one) => [one.id, one]));
  const known = await readRows(db, scope, [...byId.keys()]);
  const changes: { purchaseId: string; change: Change }[] = [];
  const written: Seen[] = [];
  const unchanged: string[] = [];
  let added = 0;
  for (const [purchaseId, one] of byId) {
    const row = known.get(purchaseId);
    if (row === undefined) {
      added += 1;
      written.push(one);
      const { status, confirmationError } = one.state;
      changes.push({ purchaseId, change: { what: "first-seen", before: null, after: { status, confirmationError } } });
      continue;
    }
    if (row.observed_at.getTime() > request.askedAtMs) continue;
    const ofRow = changesBetween(stateOfRow(row), one.state);
    if (row.missing_since !== null) ofRow.push({ what: "returned", before: null, after: null });
    if (ofRow.length === 0) unchanged.push(purchaseId);
    else written.push(one);
    for (const change of ofRow) changes.push({ purchaseId, change });
  }
  await write(db, scope, written, request);
  await markSeen(db, scope, unchanged, request);
  await writeHistory(db, scope, changes, request.writer);
  const knownAtEnd = seen.length - 1 - seen.findLastIndex(({ id }) => known.get(id)?.grounded !== true);
  return { rows: seen.length, added, changed: written.length - added, knownAtEnd };
}

async function readRows(db: Queries, scope: ScopeColumns, ids: readonly string[]): Promise<Map<string, PurchaseRow>> {
  const rows = await db
    .selectFrom("purchases")
    .selectAll()
    .where("connection", "=", scope.connection)
    .where("business_id", "=", scope.business_id)
    .where(sql<boolean>`purchase_id = any(${ids})`)
    .execute();
  return new Map(rows.map((row) => [row.purchase_id, row]));
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
  written: readonly Seen[],
  request: KeepPageRequest,
): Promise<void> {
  if (written.length === 0) return;
  const mark = markOf(request);
  const writer = writerColumns(request.writer);
  const rows = written.map(({ id, columns }) => ({ ...scope, purchase_id: id, ...columns, ...mark, ...writer }));
  const replaced = [...Object.keys(written[0]?.columns ?? {}), ...Object.keys(mark), ...Object.keys(writer)];
  await db
    .insertInto("purchases")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["connection", "business_id", "purchase_id"]).doUpdateSet({
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
