import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type Business, type ChainedEvent, hashOf, type NewEvent, NO_HASH } from "./chain.ts";
import { businessColumns, rowOf } from "./row.ts";

/** Far below the parameters that one statement may have (65,535). */
const ROWS_A_STATEMENT = 1_000;

/**
 * Appends to a business's chain, in the transaction of whatever the events tell of: both are kept, or neither. Transactions that append to
 * one chain follow each other, since each holds the chain's head until it ends; so append last.
 * @returns the numbers of the events, in their order; undefined for one whose key the chain has already
 * @throws LedgerError where a content is no JSON
 */
export async function appendEvents(
  db: Queries,
  business: Business,
  events: readonly NewEvent[],
): Promise<(number | undefined)[]> {
  if (events.length === 0) return [];
  const chain = businessColumns(business);
  const head = await lockHead(db, chain);
  const taken = await takenKeys(db, chain, events);
  const numbers: (number | undefined)[] = [];
  const appended: ChainedEvent[] = [];
  let { count, lastHash } = head;
  for (const { kind, subject, content, writer, key } of events) {
    const storedKey = key === undefined ? null : storableText(key);
    if (storedKey !== null && taken.has(storedKey)) {
      numbers.push(undefined);
      continue;
    }
    if (storedKey !== null) taken.add(storedKey);
    const event = {
      connection: chain.connection,
      businessId: chain.business_id,
      number: (count += 1),
      atMs: head.nowMs,
      kind: storableText(kind),
      subject: storableText(subject),
      key: storedKey,
      workflowId: storableText(writer.workflowId),
      runId: storableText(writer.runId),
      content: canonicalJson(content),
      previousHash: lastHash,
    };
    lastHash = hashOf(event);
    appended.push({ ...event, hash: lastHash });
    numbers.push(count);
  }
  for (let from = 0; from < appended.length; from += ROWS_A_STATEMENT) {
    const rows = appended.slice(from, from + ROWS_A_STATEMENT).map(rowOf);
    await db.insertInto("events").values(rows).execute();
  }
  if (appended.length > 0) {
    const whereHead = sql<boolean>`(connection, business_id) = (${chain.connection}, ${chain.business_id})`;
    await db.updateTable("event_heads").set({ count, last_hash: lastHash }).where(whereHead).execute();
  }
  return numbers;
}

type Chain = ReturnType<typeof businessColumns>;

async function lockHead(db: Queries, chain: Chain): Promise<{ count: number; lastHash: string; nowMs: number }> {
  const lock = () =>
    db
      .selectFrom("event_heads")
      .select(["count", "last_hash"])
      // Once the lock is there, so that times within a chain never go back by the waiting.
      .select(sql<string>`floor(extract(epoch from clock_timestamp()) * 1000)`.as("now_ms"))
      .where("connection", "=", chain.connection)
      .where("business_id", "=", chain.business_id)
      .forUpdate()
      .executeTakeFirst();
  let row = await lock();
  if (row === undefined) {
    await db
      .insertInto("event_heads")
      .values({ ...chain, count: 0, last_hash: NO_HASH })
      .onConflict((conflict) => conflict.columns(["connection", "business_id"]).doNothing())
      .execute();
    row = await lock();
  }
  if (row === undefined) throw new Error("a head vanished: heads are never deleted");
  return { count: Number(row.count), lastHash: row.last_hash, nowMs: Number(row.now_ms) };
}

async function takenKeys(db: Queries, chain: Chain, events: readonly NewEvent[]): Promise<Set<string>> {
  const keys = events.flatMap(({ key }) => (key === undefined ? [] : [storableText(key)]));
  if (keys.length === 0) return new Set();
  const rows = await db
    .selectFrom("events")
    .select("key")
    .where("connection", "=", chain.connection)
    .where("business_id", "=", chain.business_id)
    .where(sql<boolean>`key = any(${keys})`)
    .execute();
  return new Set(rows.flatMap(({ key }) => (key === null ? [] : [key])));
}
