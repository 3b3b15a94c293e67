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
import type { RowOf } from "../tables.ts";
import { accountingChain, appendEvents, type Business, businessColumns, type NewEvent } from "./chain.ts";

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
    any: ({
      connection,
      businessId,
    }: { connection?: string | undefined; businessId?: string | undefined } = {}): Promise<boolean> =>
      database.query(async (db) => {
        if (connection === undefined && businessId === undefined) return await anything(db);
        let heads = db.selectFrom("event_heads").select("connection");
        if (connection !== undefined)
          heads = heads.where("connection", "in", [connection, accountingChain(connection).connection]);
        if (businessId !== undefined) heads = heads.where("business_id", "=", businessId);
        return (await heads.limit(1).executeTakeFirst()) !== undefined;
      }),
  };
}

async function anything(db: Queries): Promise<boolean> {
  const tables = ["event_heads", "events", "documents", "movements"].map(
    (name) => sql`exists (select from ${sql.table(name)})`,
  );
  const { rows } = await sql<{ any: boolean }>`select ${sql.join(tables, sql` or `)} as any`.execute(db);
  return rows[0]?.any === true;
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
