import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import type { RowOf } from "../tables.ts";
import { type Chain, contentDigest, ERASED_KIND, type ErasingContent, hashOf, NO_HASH } from "./chain.ts";

/** What a look through a chain found. Numbers are those of events. */
export type ChainFinding =
  /** The events from `from` to `to` are not there. */
  | { kind: "missing"; from: number; to: number }
  /** What stands there is not what was hashed. */
  | { kind: "changed"; number: number; subject: string }
  /** It does not follow the event before it: that one, or this one, was written anew together with its hash. */
  | { kind: "unlinked"; number: number; subject: string }
  /** More events than the head has counted. */
  | { kind: "uncounted"; from: number; to: number }
  /** The last event is not the one that the head names. */
  | { kind: "other-end"; number: number }
  /** There are events, and no head. */
  | { kind: "no-head"; events: number }
  /** An earlier look saw another event at that number, or one that is gone. */
  | { kind: "not-as-seen"; number: number }
  /** It says that something was erased, and what is kept outside of the database of erasures does not. */
  | { kind: "erased-unlisted"; number: number; subject: string };

/** What an earlier look saw of a chain. */
export interface SeenHead {
  connection: string;
  businessId: string;
  count: number;
  hash: string;
}

/** Events in memory at a time: one may have a document of a thousand lines. */
const PAGE = 100;
const PAGE_WITHIN_MS = 30_000;

/**
 * Walks one chain from its first event to the one that its head names, in pages. Appends may go on meanwhile: what
 * comes after the head as it was read first is not looked at.
 * @returns how many were looked at, and what the head says
 * @throws LedgerUnavailableError
 */
export async function verifyChain(
  database: Database,
  chain: Chain,
  { seen, isErasure }: { seen: readonly SeenHead[]; isErasure: (subject: string) => boolean },
  find: (finding: ChainFinding) => void,
): Promise<{ events: number; erased: number; head: { count: number; hash: string } | null }> {
  const read = <Answer>(work: (db: Queries) => Promise<Answer>) => database.transact(work, PAGE_WITHIN_MS);
  const head = (await read((db) => readHead(db, chain))) ?? null;
  let events = 0;
  let erased = 0;
  const unseen = new Map(seen.filter(({ count }) => count > 0).map(({ count, hash }) => [count, hash]));
  let last = { number: 0, hash: NO_HASH };
  for (;;) {
    const page = await read((db) => readPage(db, chain, last.number, head?.count ?? Number.MAX_SAFE_INTEGER));
    events += page.length;
    for (const event of page) {
      const { subject, hash } = event;
      const number = Number(event.number);
      const next = last.number + 1;
      if (number > next) find({ kind: "missing", from: next, to: number - 1 });
      if (hashOf(event) !== hash || !isAsErased(event)) find({ kind: "changed", number, subject });
      else if (number === next && event.previous_hash !== last.hash) find({ kind: "unlinked", number, subject });
      if (event.digest !== null) erased += 1;
      if (event.kind === ERASED_KIND && !isErasure(subject)) find({ kind: "erased-unlisted", number, subject });
      const seenHash = unseen.get(number);
      if (seenHash !== undefined && seenHash !== hash) find({ kind: "not-as-seen", number });
      unseen.delete(number);
      last = { number, hash };
    }
    if (page.length < PAGE) break;
  }
  if (head === null) {
    if (events > 0) find({ kind: "no-head", events });
    else for (const count of unseen.keys()) find({ kind: "missing", from: 1, to: count });
    return { events, erased, head };
  }
  if (last.number < head.count) find({ kind: "missing", from: last.number + 1, to: head.count });
  else if (last.hash !== head.hash) find({ kind: "other-end", number: last.number });
  for (const number of unseen.keys()) find({ kind: "not-as-seen", number });
  const end = await read((db) => lastNumber(db, chain));
  // Read after the events, so that it has counted all that were appended meanwhile.
  const { count } = (await read((db) => readHead(db, chain))) ?? head;
  if (end > count) find({ kind: "uncounted", from: count + 1, to: end });
  return { events, erased, head };
}

async function readHead(db: Queries, chain: Chain): Promise<{ count: number; hash: string } | undefined> {
  const row = await db
    .selectFrom("event_heads")
    .select(["count", "last_hash"])
    .where((eb) => eb.and(chain))
    .executeTakeFirst();
  return row && { count: Number(row.count), hash: row.last_hash };
}

/** With what the event says that erased something of it. */
type LookedAt = RowOf<"events"> & { erasing: string | null };

async function readPage(db: Queries, chain: Chain, after: number, until: number): Promise<LookedAt[]> {
  const { connection, business_id } = chain;
  const { rows } = await sql<LookedAt>`
    select e.*, by.content as erasing from events as e
    left join events as by on (by.connection, by.business_id, by.number, by.kind)
      = (e.connection, e.business_id, e.erased_by, ${ERASED_KIND})
    where (e.connection, e.business_id) = (${connection}, ${business_id}) and e.number > ${after} and e.number <= ${until}
    order by e.number limit ${PAGE}`.execute(db);
  return rows;
}

/** Whether the content is the one that was hashed, or what an event of the chain says that erasing has left of it. */
function isAsErased(event: LookedAt): boolean {
  if (event.digest === null) return true;
  if (event.erasing === null) return false;
  const { contents } = JSON.parse(event.erasing) as ErasingContent;
  return contents[event.number] === contentDigest(event);
}

async function lastNumber(db: Queries, chain: Chain): Promise<number> {
  const row = await db
    .selectFrom("events")
    .select("number")
    .where((eb) => eb.and(chain))
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return Number(row?.number ?? 0);
}
