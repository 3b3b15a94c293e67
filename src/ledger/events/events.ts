import { sql } from "kysely";

import {
  CURSOR_PATTERN,
  EVENT_VERSION,
  exactNairobiInstant,
  jsonBytes,
  type LedgerEvent,
  NO_BUSINESS,
} from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { DECIDED, DOCUMENT_SAVED, type RowContent } from "../documents/row.ts";
import { LedgerError } from "../errors.ts";
import { appendEvents } from "./append-events.ts";
import { accountingChain, type Business, type NewEvent } from "./chain.ts";
import type { RowOf } from "../tables.ts";
import { businessColumns } from "./row.ts";
import { type ChainReport, type SeenHead, verifyChain } from "./verify-chain.ts";

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

const LIST_WITHIN_MS = 30_000;

/**
 * The events of each business, append-only and chained by hash. Functions throw LedgerUnavailableError while nothing
 * can be said.
 */
export function createEventLog(database: Database) {
  return {
    /**
     * A page of the events after the cursor (docs/events.md); empty where there is none yet.
     * @throws CursorLostError
     */
    read: (business: Business, cursor?: string) => database.query((db) => readEvents(db, business, cursor)),
    /** @returns the numbers of the events; undefined for one whose key was there already */
    append: (business: Business, events: readonly NewEvent[]) =>
      database.transact((db) => appendEvents(db, business, events)),
    /**
     * Whether anything was ever written: of any business, or of those that are asked for. Of any business, a claim counts
     * too: it is written before the first event of its sale.
     */
    any: ({ connection, businessId }: Pick<VerifyRequest, "connection" | "businessId"> = {}): Promise<boolean> =>
      database.query(async (db) => {
        if (connection === undefined && businessId === undefined)
          return (await nextChain(db, undefined)) !== undefined || (await anyClaim(db));
        let heads = db.selectFrom("event_heads").select("connection");
        if (connection !== undefined)
          heads = heads.where("connection", "in", [connection, accountingChain(connection).connection]);
        if (businessId !== undefined) heads = heads.where("business_id", "=", businessId);
        return (await heads.limit(1).executeTakeFirst()) !== undefined;
      }),

    /**
     * Looks through the chains, one report each, in bounded memory. A chain that was seen earlier and has gone is
     * reported too.
     */
    async *verify({ connection, businessId, seen = [] }: VerifyRequest = {}): AsyncGenerator<ChainReport> {
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

/** The event of the cursor is not in the ledger as it was read: events after it may be others, or gone. */
export class CursorLostError extends LedgerError {
  constructor(cursor: string) {
    super(
      `The ledger has no event ${cursor}: the cursor is another business's, or the ledger was restored or made anew since. Run \`fiscalflow ledger verify\`, then read from the first event, and compare.`,
    );
  }
}

const PAGE = 50;
/** Half of what a payload may hold. */
const MOST_BYTES = 128 * 1024;

/**
 * The events of a business after the cursor, in their order. None is skipped: a transaction that appends holds the
 * chain's head until it ends, so a number is visible only once all lower ones are. A gap is somebody's, and is shown.
 * @throws CursorLostError; LedgerError where an event is missing
 */
async function readEvents(db: Queries, business: Business, cursor: string | undefined): Promise<LedgerEvent[]> {
  const { connection, business_id } = businessColumns(business);
  const last = cursor === undefined ? 0 : numberOf(cursor);
  const events = await db
    .selectFrom("events")
    .selectAll()
    .where((eb) => eb.and({ connection, business_id }))
    // With the event of the cursor, which is compared.
    .where("number", ">=", String(last))
    .orderBy("number")
    .limit(PAGE)
    .execute();
  if (cursor !== undefined) {
    const known = events.shift();
    if (!known || cursorOf(known) !== cursor) throw new CursorLostError(cursor);
  }
  const gap = events.findIndex(({ number }, index) => Number(number) !== last + 1 + index);
  if (gap !== -1)
    throw new LedgerError(
      `The ledger's event ${last + 1 + gap} of ${business_id} is missing: run \`fiscalflow ledger verify\`.`,
    );
  return fitting(events.map(publishedEvent));
}

function numberOf(cursor: string): number {
  if (!CURSOR_PATTERN.test(cursor)) throw new CursorLostError(cursor);
  return Number(cursor.split("-")[0]);
}

function cursorOf({ number, hash }: RowOf<"events">): string {
  return `${number}-${hash.slice(0, 16)}`;
}

function fitting(events: LedgerEvent[]): LedgerEvent[] {
  let bytes = 0;
  const end = events.findIndex((event) => (bytes += jsonBytes(event)) > MOST_BYTES);
  return end === -1 ? events : events.slice(0, Math.max(1, end));
}

/** As others read it: what stands in the ledger is ours to change. */
function publishedEvent(event: RowOf<"events">): LedgerEvent {
  const { connection, business_id, number, at, kind, subject } = event;
  return {
    version: EVENT_VERSION,
    cursor: cursorOf(event),
    connection,
    businessId: business_id === NO_BUSINESS ? null : business_id,
    number: Number(number),
    at: exactNairobiInstant(at.getTime()),
    kind,
    subject,
    ...partOf(event),
  };
}

function partOf({ kind, content }: RowOf<"events">): Pick<LedgerEvent, "document" | "correction" | "operator"> {
  if (kind === "correction-begun" || kind === "correction-ended")
    return { correction: JSON.parse(content) as NonNullable<LedgerEvent["correction"]> };
  if (kind === "attention-raised" || kind === "attention-cleared" || kind === DECIDED) {
    const { code, update } = JSON.parse(content) as NonNullable<LedgerEvent["operator"]>;
    return { operator: { ...(code !== undefined && { code }), ...(update !== undefined && { update }) } };
  }
  if (kind !== DOCUMENT_SAVED) return {};
  const { type, number, stage, document, originalSaleId, attentions } = JSON.parse(content) as RowContent;
  return {
    document: {
      type,
      number,
      stage,
      id: document?.id ?? null,
      status: document?.status ?? null,
      total: document?.totals.total ?? null,
      taxAmount: document?.totals.taxAmount ?? null,
      receipt: document?.receipt ?? null,
      originalSaleId: originalSaleId ?? document?.originalSaleId ?? null,
      attentions: attentions.map(({ code }) => code),
    },
  };
}
