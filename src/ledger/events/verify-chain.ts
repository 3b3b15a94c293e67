import type { Database, Queries } from "../database.ts";
import type { RowOf } from "../tables.ts";
import { hashOf, NO_HASH } from "./chain.ts";
import type { Chain } from "./verify-rows.ts";

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
  | { kind: "not-as-seen"; number: number };

export interface ChainReport {
  connection: string;
  /** `-` for none. */
  businessId: string;
  /** Events that were looked at. */
  events: number;
  /** As the head says: to be kept elsewhere, for a later look to be held against. */
  head: { count: number; hash: string } | null;
  findings: ChainFinding[];
  /** Findings beyond those that are listed. */
  moreFindings: number;
}

/** What an earlier look saw of a chain. */
export interface SeenHead {
  connection: string;
  businessId: string;
  count: number;
  hash: string;
}

/** Events in memory at a time. */
const PAGE = 500;
const PAGE_WITHIN_MS = 30_000;
const MOST_FINDINGS = 1_000;

/**
 * Walks one chain from its first event to the one that its head names, in pages. Appends may go on meanwhile: what
 * comes after the head as it was read first is not looked at.
 * @throws LedgerUnavailableError
 */
export async function verifyChain(
  database: Database,
  chain: Chain,
  seen: readonly SeenHead[] = [],
): Promise<ChainReport> {
  const head = await database.transact((db) => readHead(db, chain), PAGE_WITHIN_MS);
  const walk = new Walk(head?.count ?? Number.MAX_SAFE_INTEGER, seen);
  for (;;) {
    const page = await database.transact((db) => readPage(db, chain, walk.last.number, walk.until), PAGE_WITHIN_MS);
    for (const event of page) walk.see(event);
    if (page.length < PAGE) break;
  }
  if (head === undefined) {
    if (walk.events > 0) walk.find({ kind: "no-head", events: walk.events });
  } else {
    walk.end(head);
    const last = await database.transact((db) => lastNumber(db, chain), PAGE_WITHIN_MS);
    // Read after the events, so that it has counted all that were appended meanwhile.
    const now = await database.transact((db) => readHead(db, chain), PAGE_WITHIN_MS);
    const counted = now?.count ?? head.count;
    if (last > counted) walk.find({ kind: "uncounted", from: counted + 1, to: last });
  }
  const { events, findings, moreFindings } = walk;
  const { connection, business_id: businessId } = chain;
  return { connection, businessId, events, head: head ?? null, findings, moreFindings };
}

class Walk {
  readonly until: number;
  readonly findings: ChainFinding[] = [];
  readonly #seen: Map<number, string>;
  moreFindings = 0;
  events = 0;
  last: { number: number; hash: string } = { number: 0, hash: NO_HASH };

  constructor(until: number, seen: readonly SeenHead[]) {
    this.until = until;
    this.#seen = new Map(seen.filter(({ count }) => count > 0).map(({ count, hash }) => [count, hash]));
  }

  see(event: RowOf<"events">): void {
    const { subject, hash } = event;
    const number = Number(event.number);
    this.events += 1;
    const next = this.last.number + 1;
    if (number > next) this.find({ kind: "missing", from: next, to: number - 1 });
    const intact = hashOf(event) === hash;
    if (!intact) this.find({ kind: "changed", number, subject });
    else if (number === next && event.previous_hash !== this.last.hash)
      this.find({ kind: "unlinked", number, subject });
    const seenHash = this.#seen.get(number);
    if (seenHash !== undefined && seenHash !== hash) this.find({ kind: "not-as-seen", number });
    this.#seen.delete(number);
    this.last = { number, hash };
  }

  /** All events up to the head's have been seen. */
  end(head: { count: number; hash: string }): void {
    const { number, hash } = this.last;
    if (number < head.count) this.find({ kind: "missing", from: number + 1, to: head.count });
    else if (hash !== head.hash) this.find({ kind: "other-end", number });
    for (const seen of this.#seen.keys()) this.find({ kind: "not-as-seen", number: seen });
  }

  find(finding: ChainFinding): void {
    if (this.findings.length < MOST_FINDINGS) this.findings.push(finding);
    else this.moreFindings += 1;
  }
}

async function readHead(db: Queries, chain: Chain): Promise<{ count: number; hash: string } | undefined> {
  const row = await db
    .selectFrom("event_heads")
    .select(["count", "last_hash"])
    .where((eb) => eb.and(chain))
    .executeTakeFirst();
  return row && { count: Number(row.count), hash: row.last_hash };
}

function readPage(db: Queries, chain: Chain, after: number, until: number): Promise<RowOf<"events">[]> {
  return db
    .selectFrom("events")
    .selectAll()
    .where((eb) => eb.and(chain))
    .where("number", ">", String(after))
    .where("number", "<=", String(until))
    .orderBy("number")
    .limit(PAGE)
    .execute();
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
