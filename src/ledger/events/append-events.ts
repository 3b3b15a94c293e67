import { type OperationNodeSource, sql } from "kysely";

import type { Queries } from "../database.ts";
import { piecesOf, writeTogether } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type Business, type ChainedEvent, hashOf, type NewEvent, NO_HASH } from "./chain.ts";
import { businessColumns, rowOf } from "./row.ts";

/**
 * Appends to a business's chain, in the transaction of whatever the events tell of: both are kept, or neither.
 * Transactions that append to one chain follow each other, since each holds the chain's head until it ends; so append
 * last.
 * @returns the numbers of the events, in their order; undefined for one whose key the chain has already
 * @throws LedgerError where a content is no JSON
 */
export async function appendEvents(
  db: Queries,
  business: Business,
  events: readonly NewEvent[],
): Promise<(number | undefined)[]> {
  if (events.length === 0) return [];
  const { numbers, head, rows } = await prepareEvents(db, business, events);
  if (rows) await writeTogether(db, head, [rows]);
  return numbers;
}

interface PreparedEvents {
  numbers: (number | undefined)[];
  /** What is still to be written, by one statement, together with what carries the numbers. */
  head: OperationNodeSource;
  /** Undefined where the chain has all of them already; then the head stays too. At most a thousand. */
  rows: OperationNodeSource | undefined;
}

/**
 * Takes the chain's head and numbers the events, as {@link appendEvents} does, and leaves the last of the writing to
 * the caller.
 */
export async function prepareEvents(
  db: Queries,
  business: Business,
  events: readonly NewEvent[],
): Promise<PreparedEvents> {
  const chain = businessColumns(business);
  // Before the head is taken, for which others wait.
  const stored = events.map(({ kind, subject, content, writer, key }) => ({
    kind: storableText(kind),
    subject: storableText(subject),
    key: key === undefined ? null : storableText(key),
    workflowId: storableText(writer.workflowId),
    runId: storableText(writer.runId),
    content: canonicalJson(content),
  }));
  const head = await lockHead(db, chain);
  const taken = await takenKeys(
    db,
    chain,
    stored.flatMap(({ key }) => key ?? []),
  );
  const numbers: (number | undefined)[] = [];
  const appended: ChainedEvent[] = [];
  let { count, lastHash } = head;
  for (const one of stored) {
    if (one.key !== null && taken.has(one.key)) {
      numbers.push(undefined);
      continue;
    }
    if (one.key !== null) taken.add(one.key);
    const of = { connection: chain.connection, businessId: chain.business_id, number: (count += 1), atMs: head.nowMs };
    const event = { ...of, ...one, previousHash: lastHash };
    lastHash = hashOf(event);
    appended.push({ ...event, hash: lastHash });
    numbers.push(count);
  }
  const insert = (some: readonly ChainedEvent[]) => db.insertInto("events").values(some.map(rowOf));
  const pieces = piecesOf(appended);
  const last = pieces.pop();
  for (const piece of pieces) await insert(piece).execute();
  const whereHead = sql<boolean>`(connection, business_id) = (${chain.connection}, ${chain.business_id})`;
  return {
    numbers,
    head: db.updateTable("event_heads").set({ count, last_hash: lastHash }).where(whereHead),
    rows: last && insert(last),
  };
}

type Chain = ReturnType<typeof businessColumns>;

async function lockHead(db: Queries, chain: Chain): Promise<{ count: number; lastHash: string; nowMs: number }> {
  const lock = () =>
    db
      .selectFrom("event_heads")
      .select(["count", "last_hash"])
      // Once the lock is there, so that times within a chain never go back by the waiting.
      .select(sql<string>`floor(extract(epoch from clock_timestamp()) * 1000)`.as("now_ms"))
      .where((eb) => eb.and(chain))
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

async function takenKeys(db: Queries, chain: Chain, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await db
    .selectFrom("events")
    .select("key")
    .where((eb) => eb.and(chain))
    .where(sql<boolean>`key = any(${keys})`)
    .execute();
  return new Set(rows.flatMap(({ key }) => (key === null ? [] : [key])));
}
