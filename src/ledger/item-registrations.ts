import { sql } from "kysely";

import type { ItemOutcome, ItemOutcomeKind } from "../contract/index.ts";
import type { Database, Queries } from "./database.ts";
import { type Business, businessColumns, type Writer, writerColumns } from "./events/chain.ts";
import { storableJson, storableText } from "./storable-text.ts";

export interface KeptItemOutcome extends ItemOutcome {
  atMs: number;
}

export interface KeepRequest {
  batchId: string;
  outcomes: readonly ItemOutcome[];
  writer: Writer;
}

export interface PageRequest {
  kinds: readonly ItemOutcomeKind[];
  batchId?: string | undefined;
  afterItem?: string | undefined;
  most: number;
}

/**
 * What the registration of each item came to last. Every write may be repeated; every function throws
 * LedgerUnavailableError when the ledger cannot answer.
 */
export function createItemRegistrations(database: Database) {
  return {
    keep: (business: Business, request: KeepRequest) => database.transact((db) => keep(db, business, request)),
    /** By what they came to; kinds that do not occur are left out. */
    counts: (business: Business, batchId: string) => database.query((db) => counts(db, business, batchId)),
    /** By item, `most` at a time. */
    page: (business: Business, request: PageRequest) => database.query((db) => page(db, business, request)),
  };
}

async function keep(db: Queries, business: Business, { batchId, outcomes, writer }: KeepRequest): Promise<void> {
  const of = businessColumns(business);
  // Of an item that is named twice the first outcome counts: the second one is that it is registered already.
  const byItem = new Map(outcomes.toReversed().map((outcome) => [storableText(outcome.item), outcome]));
  const rows = [...byItem]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([item, { kind, name, needs, reason }]) => ({
      ...of,
      item,
      batch_id: batchId,
      outcome: kind,
      name,
      needs,
      reason,
      ...writerColumns(writer),
    }));
  const columns = sql`connection, business_id, item, batch_id, outcome, name, needs, reason, workflow_id, run_id`;
  await sql`
    insert into item_registrations as kept (${columns})
    select ${columns} from json_populate_recordset(null::item_registrations, ${JSON.stringify(storableJson(rows))})
    on conflict (connection, business_id, item) do update set
      batch_id = excluded.batch_id, outcome = excluded.outcome, name = excluded.name, needs = excluded.needs,
      reason = excluded.reason, workflow_id = excluded.workflow_id, run_id = excluded.run_id, at = clock_timestamp()
    -- What this batch has registered stays so, however often it looks.
    where kept.batch_id <> excluded.batch_id or kept.outcome <> 'registered'`.execute(db);
}

async function counts(
  db: Queries,
  business: Business,
  batchId: string,
): Promise<Partial<Record<ItemOutcomeKind, number>>> {
  const { connection, business_id } = businessColumns(business);
  const { rows } = await sql<{ outcome: ItemOutcomeKind; count: string }>`
    select outcome, count(*) from item_registrations
    where connection = ${connection} and business_id = ${business_id} and batch_id = ${batchId}
    group by outcome`.execute(db);
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, Number(count)]));
}

async function page(
  db: Queries,
  business: Business,
  { kinds, batchId, afterItem = "", most }: PageRequest,
): Promise<KeptItemOutcome[]> {
  let query = db
    .selectFrom("item_registrations")
    .selectAll()
    .where((eb) => eb.and(businessColumns(business)))
    .where("outcome", "in", [...kinds])
    .where("item", ">", afterItem)
    .orderBy("item")
    .limit(most);
  if (batchId !== undefined) query = query.where("batch_id", "=", batchId);
  return (await query.execute()).map(({ item, outcome, name, needs, reason, at }) => ({
    kind: outcome,
    item,
    ...(name !== null && { name }),
    ...(needs !== null && { needs }),
    ...(reason !== null && { reason }),
    atMs: at.getTime(),
  }));
}
