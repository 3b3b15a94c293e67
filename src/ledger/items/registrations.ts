import { sql } from "kysely";

import type { ItemOutcome, ItemOutcomeKind } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { piecesOf } from "../statements.ts";
import { storableText } from "../storable-text.ts";

export interface KeptItemOutcome extends ItemOutcome {
  atMs: number;
}

/**
 * What the registration of each item came to last. Every write may be repeated; every function throws
 * LedgerUnavailableError when the ledger cannot answer.
 */
export interface ItemRegistrations {
  keep(
    business: Business,
    request: { batchId: string; outcomes: readonly ItemOutcome[]; writer: Writer },
  ): Promise<void>;
  /** By what they came to; kinds that do not occur are left out. */
  counts(business: Business, batchId: string): Promise<Partial<Record<ItemOutcomeKind, number>>>;
  /** By item, `most` at a time. */
  page(
    business: Business,
    request: {
      kinds: readonly ItemOutcomeKind[];
      batchId?: string | undefined;
      afterItem?: string | undefined;
      most: number;
    },
  ): Promise<KeptItemOutcome[]>;
}

export function createItemRegistrations(database: Database): ItemRegistrations {
  return {
    keep: (business, request) => database.transact((db) => keep(db, business, request)),
    counts: (business, batchId) => database.transact((db) => counts(db, business, batchId)),
    page: (business, request) => database.transact((db) => page(db, business, request)),
  };
}

async function keep(db: Queries, business: Business, request: Parameters<ItemRegistrations["keep"]>[1]): Promise<void> {
  const { batchId, outcomes, writer } = request;
  const of = businessColumns(business);
  // Of an item that is named twice the first outcome counts: the second one is that it is registered already.
  const byItem = new Map(outcomes.toReversed().map((outcome) => [storableText(outcome.item), outcome]));
  const rows = [...byItem]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([item, { kind, name, needs, reason }]) => ({
      ...of,
      item,
      batch_id: storableText(batchId),
      outcome: kind,
      name: name === undefined || name === null ? null : storableText(name),
      needs: needs?.map(storableText) ?? null,
      reason: reason === undefined ? null : storableText(reason),
      workflow_id: storableText(writer.workflowId),
      run_id: storableText(writer.runId),
    }));
  for (const piece of piecesOf(rows)) {
    await db
      .insertInto("item_registrations")
      .values(piece)
      .onConflict((conflict) =>
        conflict
          .columns(["connection", "business_id", "item"])
          .doUpdateSet({
            ...Object.fromEntries(
              ["batch_id", "outcome", "name", "needs", "reason", "workflow_id", "run_id"].map((column) => [
                column,
                sql.ref(`excluded.${column}`),
              ]),
            ),
            at: sql`clock_timestamp()`,
          })
          // What this batch has registered stays so, however often it looks.
          .where(
            sql<boolean>`item_registrations.batch_id <> excluded.batch_id or item_registrations.outcome <> 'registered'`,
          ),
      )
      .execute();
  }
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
  { kinds, batchId, afterItem = "", most }: Parameters<ItemRegistrations["page"]>[1],
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
