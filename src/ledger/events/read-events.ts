import {
  CURSOR_PATTERN,
  EVENT_VERSION,
  exactNairobiInstant,
  jsonBytes,
  type LedgerEvent,
  NO_BUSINESS,
} from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { DECIDED, DOCUMENT_SAVED, type RowContent } from "../documents/columns.ts";
import type { Business, ChainedEvent } from "./chain.ts";
import { businessColumns, eventOf } from "./row.ts";

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
export async function readEvents(db: Queries, business: Business, cursor: string | undefined): Promise<LedgerEvent[]> {
  const { connection, business_id } = businessColumns(business);
  const last = cursor === undefined ? 0 : numberOf(cursor);
  const rows = await db
    .selectFrom("events")
    .selectAll()
    .where((eb) => eb.and({ connection, business_id }))
    // With the event of the cursor, which is compared.
    .where("number", ">=", String(last))
    .orderBy("number")
    .limit(PAGE)
    .execute();
  const events = rows.map(eventOf);
  if (cursor !== undefined) {
    const known = events.shift();
    if (!known || cursorOf(known) !== cursor) throw new CursorLostError(cursor);
  }
  const gap = events.findIndex(({ number }, index) => number !== last + 1 + index);
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

function cursorOf({ number, hash }: ChainedEvent): string {
  return `${number}-${hash.slice(0, 16)}`;
}

function fitting(events: LedgerEvent[]): LedgerEvent[] {
  let bytes = 0;
  const end = events.findIndex((event) => (bytes += jsonBytes(event)) > MOST_BYTES);
  return end === -1 ? events : events.slice(0, Math.max(1, end));
}

/** As others read it: what stands in the ledger is ours to change. */
function publishedEvent(event: ChainedEvent): LedgerEvent {
  const { connection, businessId, number, atMs, kind, subject } = event;
  return {
    version: EVENT_VERSION,
    cursor: cursorOf(event),
    connection,
    businessId: businessId === NO_BUSINESS ? null : businessId,
    number,
    at: exactNairobiInstant(atMs),
    kind,
    subject,
    ...partOf(event),
  };
}

function partOf({ kind, content }: ChainedEvent): Pick<LedgerEvent, "document" | "correction" | "operator"> {
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
