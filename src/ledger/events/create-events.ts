import { sql } from "kysely";

import type { LedgerEvent } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { appendEvents } from "./append-events.ts";
import { accountingChain, type Business, type NewEvent } from "./chain.ts";
import { readEvents } from "./read-events.ts";
import type { ChainReport, SeenHead } from "./findings.ts";
import { verifyChain } from "./verify-chain.ts";

export interface VerifyRequest {
  /** Of the Compliance API, of the accounting service, or one of each by the same name. */
  connection?: string | undefined;
  /** `-` for none; default: all. */
  businessId?: string | undefined;
  /**
   * What an earlier look saw: who can write to the database can write a whole chain anew, but not what was kept
   * elsewhere.
   */
  seen?: readonly SeenHead[] | undefined;
}

/**
 * The events of each business, append-only and chained by hash. Functions throw LedgerUnavailableError while nothing
 * can be said.
 */
export interface Events {
  /**
   * A page of the events after the cursor (docs/events.md); empty where there is none yet.
   * @throws CursorLostError
   */
  read(business: Business, cursor?: string): Promise<LedgerEvent[]>;
  /** @returns the numbers of the events; undefined for one whose key was there already */
  append(business: Business, events: readonly NewEvent[]): Promise<(number | undefined)[]>;
  /**
   * Whether anything was ever written: of any business, or of those that are asked for. Of any business, a claim counts
   * too: it is written before the first event of its sale.
   */
  any(asked?: Pick<VerifyRequest, "connection" | "businessId">): Promise<boolean>;
  /**
   * Looks through the chains, one report each, in bounded memory. A chain that was seen earlier and has gone is
   * reported too.
   */
  verify(request?: VerifyRequest): AsyncIterable<ChainReport>;
}

const LIST_WITHIN_MS = 30_000;

export function createEventLog(database: Database): Events {
  return {
    read: (business, cursor) => database.query((db) => readEvents(db, business, cursor)),
    append: (business, events) => database.transact((db) => appendEvents(db, business, events)),

    any: ({ connection, businessId } = {}) =>
      database.query(async (db) => {
        if (connection === undefined && businessId === undefined)
          return (await nextChain(db, undefined)) !== undefined || (await anyClaim(db));
        let heads = db.selectFrom("event_heads").select("connection");
        if (connection !== undefined)
          heads = heads.where("connection", "in", [connection, accountingChain(connection).connection]);
        if (businessId !== undefined) heads = heads.where("business_id", "=", businessId);
        return (await heads.limit(1).executeTakeFirst()) !== undefined;
      }),

    async *verify({ connection, businessId, seen = [] } = {}) {
      const wanted = (one: { connection: string; businessId: string }): boolean =>
        (connection === undefined || [connection, accountingChain(connection).connection].includes(one.connection)) &&
        (businessId === undefined || one.businessId === businessId);
      const known = new Set<SeenHead>();
      for (let after: Awaited<ReturnType<typeof nextChain>>; ;) {
        const chain = await database.transact((db) => nextChain(db, after), LIST_WITHIN_MS);
        if (!chain) break;
        after = chain;
        if (!wanted({ connection: chain.connection, businessId: chain.business_id })) continue;
        const seenOfChain = seen.filter(
          (one) => one.connection === chain.connection && one.businessId === chain.business_id,
        );
        for (const one of seenOfChain) known.add(one);
        yield await verifyChain(database, chain, seenOfChain);
      }
      for (const gone of seen.filter((one) => !known.has(one) && one.count > 0 && wanted(one))) {
        const findings = [{ kind: "missing", from: 1, to: gone.count } as const];
        const { connection: of, businessId: business } = gone;
        yield { connection: of, businessId: business, events: 0, head: null, findings, moreFindings: 0 };
      }
    },
  };
}

async function anyClaim(db: Queries): Promise<boolean> {
  const { rows } = await sql<{ any: boolean }>`
    select exists (select from documents) or exists (select from movements) as any`.execute(db);
  return rows[0]?.any === true;
}

/**
 * Every business that has events, a head, or both: from one to the next by the index, since a scan would read every
 * event.
 */
async function nextChain(
  db: Queries,
  after: { connection: string; business_id: string } | undefined,
): Promise<{ connection: string; business_id: string } | undefined> {
  const beyond = after
    ? sql`where (connection, business_id) > (${after.connection}, ${after.business_id})`
    : sql`where true`;
  const { rows } = await sql<{ connection: string; business_id: string }>`
    select connection, business_id from (
      (select connection, business_id from event_heads ${beyond} order by connection, business_id limit 1)
      union all
      (select connection, business_id from events ${beyond} order by connection, business_id limit 1)
    ) as next order by connection, business_id limit 1`.execute(db);
  return rows[0];
}
