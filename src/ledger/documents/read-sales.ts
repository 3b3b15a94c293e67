import { type RawBuilder, sql } from "kysely";

import type {
  Attention,
  Decision,
  DocumentRecord,
  DocumentRow,
  SaleContent,
  Stage,
  StockMovement,
} from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { type Business, businessColumns, type Writer } from "../events/chain.ts";
import { unixMs } from "../statements.ts";
import { IS_REFUSED } from "../stock/movement.ts";
import { movementsOf } from "../stock/of-sale.ts";
import { storableText } from "../storable-text.ts";
import { type DocumentClaimRow, contentOf, DECIDED, documentsWithEvents, isClaimed, kindOf, subjectOf } from "./row.ts";

/** A document as its row has it, with its movements. */
export interface KeptRecord {
  record: DocumentRecord & { movements: StockMovement[] };
  /** Its claim was taken, or decided upon, by any run. */
  isClaimed: boolean;
  /** A create request of it may have left, and no answer ruled out a document. */
  isSent: boolean;
  /** Of all runs of the workflow that kept it, in their order. */
  decisions: Decision[];
  /** When it was kept (Unix milliseconds). */
  keptAtMs: number;
  /** Who kept it. */
  writer: Writer;
}

/** A sale as it was kept last. */
export interface KeptSale extends KeptRecord {
  /** The credit note that reverses it: the signed one, else the one that was kept last. */
  creditNote: KeptRecord | undefined;
}

/** The sale of that number, out of the event that its row was written with. */
export async function findSale(db: Queries, business: Business, number: string): Promise<KeptSale | undefined> {
  const documents = documentsWithEvents(db, business).select(["d.document_id", "d.claim", "e.at"]);
  const row = await documents
    .where("d.type", "=", "sale")
    .where("d.number", "=", storableText(number))
    .executeTakeFirst();
  if (!row) return undefined;
  const note = await documents
    .where("d.type", "=", "credit_note")
    .where("d.original_document_id", "=", row.document_id)
    .orderBy(sql`d.status is not distinct from 'completed'`, "desc")
    .orderBy("d.as_of", "desc")
    .limit(1)
    .executeTakeFirst();
  return { ...(await keptOf(db, business, row)), creditNote: note && (await keptOf(db, business, note)) };
}

/** The number of the sale that the credit note of that number reverses, if the ledger has both. */
export async function saleOfCreditNote(db: Queries, business: Business, number: string): Promise<string | undefined> {
  const { connection, business_id } = businessColumns(business);
  const row = await db
    .selectFrom("documents as n")
    .innerJoin("documents as s", (join) =>
      join
        .onRef("s.connection", "=", "n.connection")
        .onRef("s.business_id", "=", "n.business_id")
        .onRef("s.document_id", "=", "n.original_document_id")
        .on("s.type", "=", "sale"),
    )
    .select("s.number")
    .where("n.connection", "=", connection)
    .where("n.business_id", "=", business_id)
    .where("n.type", "=", "credit_note")
    .where("n.number", "=", storableText(number))
    .executeTakeFirst();
  return row?.number;
}

type Row = Parameters<typeof contentOf>[0] & Pick<DocumentClaimRow, "claim"> & { at: Date | null };

async function keptOf(db: Queries, business: Business, row: Row): Promise<KeptRecord> {
  const { run: writer, ...record } = contentOf(row);
  const decisions = await decisionsOf(db, business, record, writer.workflowId);
  const movements = await movementsOf(db, business, record, decisions);
  const isOpen = (subject: string | undefined): boolean =>
    movements.some(({ referenceId, state }) => referenceId === subject && state === "unknown");
  return {
    record: {
      ...record,
      // What its claim knows, also if its run has ended before it could tell.
      numberTaken: record.numberTaken || isClaimed(row),
      movements,
      attentions: record.attentions.filter(({ code, subject }) => code !== "stock-unknown" || isOpen(subject)),
    },
    isClaimed: row.claim !== null,
    isSent: isClaimed(row),
    decisions,
    keptAtMs: Number(row.at),
    writer,
  };
}

/** What operators decided on a document, in all runs of the workflow, in their order. */
export async function decisionsOf(
  db: Queries,
  business: Business,
  of: Pick<DocumentRow, "type" | "number">,
  workflowId: string,
): Promise<Decision[]> {
  // A credit note that lost its number to another sale's has sent its decisions under the same subject.
  const decisions = await db
    .selectFrom("events")
    .select("content")
    .where((eb) => eb.and(businessColumns(business)))
    .where("subject", "=", subjectOf(of))
    .where("kind", "=", DECIDED)
    .where("workflow_id", "=", workflowId)
    .orderBy("number")
    .execute();
  return decisions.map(({ content }) => JSON.parse(content) as Decision);
}

export interface SalesRequest {
  connection?: string | undefined;
  businessId?: string | undefined;
  /** Days of the document's date, `YYYY-MM-DD`, both included. */
  from?: string | undefined;
  to?: string | undefined;
  /** Only sales that need an operator. */
  attention?: boolean | undefined;
  /** Only sales whose run ended with work left. */
  ended?: boolean | undefined;
  limit: number;
}

/** A sale as its row has it, with its credit note. */
export interface SaleRow {
  connection: string;
  businessId: string;
  number: string;
  workflowId: string;
  stage: Stage;
  /** Something is left to be done: by its run, or by an operator. */
  isOpen: boolean;
  /** A stock movement of it waits for its answer, or is still to be sent, of a sale whose document is done. */
  isMoving: boolean;
  failed: boolean;
  closed: string | null;
  /** Its own ones, then those of its credit note. */
  attentions: Attention[];
  /** The number of the credit note that reverses it, or is about to. */
  creditNote: string | null;
  asked: SaleContent | null;
  customer: string | null;
  documentId: string | null;
  /** Of its document. */
  total: string | null;
  startedAtMs: number;
}

/** A credit note may have been signed as its run ended, which the sale's own row does not say. */
const IS_CREDITED = sql<boolean>`(d.stage in ('completed', 'crediting') and ${ofNotes(sql`n.stage = 'credited'`)})`;

/** A row is opened with the stage in which a sale begins; its claim says that a request was made of it. */
const STAGE = sql<Stage>`(
  case when ${IS_CREDITED} then 'credited'
    when d.stage = 'resolving-items' and d.claim is not null then 'submitting'
    else d.stage end)`;

const NEEDS_PERSON = sql<boolean>`(
  d.needs_person_since is not null or ${ofNotes(sql`n.needs_person_since is not null`)})`;

/** Of the sale `d`. */
export const IS_OPEN = sql<boolean>`(
  not d.failed and (${NEEDS_PERSON} or ${STAGE} not in ('completed', 'credited', 'cancelled')))`;

const IS_ENDED = sql<boolean>`(d.closed is not null and not d.failed)`;

/** Whether the sale `d` has such a credit note. Looked up once for all sales, since few credit notes are such. */
export function ofNotes(which: RawBuilder<boolean> | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`coalesce((d.connection, d.business_id, d.document_id) in (
    select n.connection, n.business_id, n.original_document_id from documents as n
    where n.type = 'credit_note' and n.original_document_id is not null and ${which}), false)`;
}

/** For a statement: from the movements of the document `d` that are such. */
export function ofMovements(which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`from movements as m
    where (m.connection, m.business_id, m.type, m.number) = (d.connection, d.business_id, d.type, d.number)
      and (${which})`;
}

/**
 * Of the sale `d`, whose last event is `e`: how many of its movements were never taken to be sent. The text of the event
 * is searched and not parsed: a service's answer may hold characters that the database refuses in JSON.
 */
export const MOVEMENTS_MISSING = sql<number>`(
  coalesce(substring(e.content from '"movementsPlanned":([0-9]+)')::int, 0)
  - (select count(*) ${ofMovements(sql`m.purpose = 'sold'`)}))`;

/** For a statement: the references of the movements of the document `d` that operators gave up, sent before or not. */
const GIVEN_UP = sql<string>`
  select g.content::json ->> 'subject' from events as g
  where (g.connection, g.business_id, g.subject) = (d.connection, d.business_id, d.type || ' ' || d.number)
    and g.kind = ${sql.lit(DECIDED)} and g.workflow_id = d.workflow_id
    and (g.content::json ->> 'update', g.content::json ->> 'code') = ('acknowledge', 'stock-refused')
    and g.content::json ->> 'subject' is not null`;

/** Of the movement `m`: it was put off, or an operator has said that it was not made. */
const IS_PUT_OFF = sql<boolean>`(m.state = 'not-applied' and not ${IS_REFUSED} and m.purpose <> 'undone')`;

/**
 * A movement that was put off, or never taken, is still to be sent, unless an operator gave it up. One that the service
 * refused needs a person, which the attentions say; the goods of a sale that was given up are back before it is
 * `cancelled`. Not seen are goods to be returned of which none was taken to be sent yet. Decisions are read of the few
 * sales alone for which they count.
 */
const IS_MOVING = sql<boolean>`(case
  when exists (select ${ofMovements(sql`m.state = 'held'`)}) then true
  when d.stage_now not in ('completed', 'credited') then false
  when not exists (select ${ofMovements(IS_PUT_OFF)}) and ${MOVEMENTS_MISSING} <= 0 then false
  else exists (select ${ofMovements(sql`${IS_PUT_OFF} and m.reference_id not in (${GIVEN_UP})`)})
    or ${MOVEMENTS_MISSING} > (
      select count(*) from (${GIVEN_UP} except select m.reference_id ${ofMovements(sql`true`)}) as unsent)
  end)`;

/** Those first that are open, then the others, the latest of each first. */
export async function listSales(db: Queries, request: SalesRequest): Promise<SaleRow[]> {
  const { rows } = await sql<SaleRow & { ofNote: Attention[] | null }>`
    with found as (
      select d.*, ${STAGE} as stage_now, ${IS_OPEN} as is_open from documents as d
      where ${sql.join(clausesOf(request), sql` and `)}
      order by is_open desc, d.started_at desc, d.number limit ${request.limit})
    select d.connection, d.business_id as "businessId", d.number, d.workflow_id as "workflowId", d.stage_now as stage,
      d.is_open as "isOpen", d.failed, d.closed, d.asked, coalesce(d.customer_name, d.customer_pin) as customer,
      d.document_id as "documentId", d.total, ${unixMs(sql`d.started_at`)} as "startedAtMs",
      ${IS_MOVING} as "isMoving", d.attentions, note.attentions as "ofNote",
      -- One that was given up keeps its number.
      case when d.stage_now in ('crediting', 'credited') then note.number end as "creditNote"
    from found as d
    left join events as e on (e.connection, e.business_id, e.number) = (d.connection, d.business_id, d.event_number)
    left join lateral (
      select n.number, n.attentions from documents as n
      where (n.connection, n.business_id, n.original_document_id) = (d.connection, d.business_id, d.document_id)
        and n.type = 'credit_note'
      order by n.status is not distinct from 'completed' desc, n.as_of desc limit 1) as note on true
    order by d.is_open desc, d.started_at desc, d.number`.execute(db);
  return rows.map(({ ofNote, ...row }) => ({ ...row, attentions: [...row.attentions, ...(ofNote ?? [])] }));
}

function clausesOf(request: Omit<SalesRequest, "limit">): RawBuilder<unknown>[] {
  const { connection, businessId, from, to, attention, ended } = request;
  return [
    sql`d.type = 'sale'`,
    ...(connection === undefined ? [] : [sql`d.connection = ${connection}`]),
    ...(businessId === undefined ? [] : [sql`d.business_id = ${businessId}`]),
    ...(from === undefined ? [] : [sql`d.document_date >= ${from}`]),
    ...(to === undefined ? [] : [sql`d.document_date <= ${to}`]),
    // Of a run that has ended no operator's answer arrives any more.
    ...(attention === true ? [sql`${NEEDS_PERSON} and d.closed is null`] : []),
    ...(ended === true ? [IS_ENDED] : []),
  ];
}

/** How many sales nothing carries on until they are restarted. */
export async function countEnded(
  db: Queries,
  { connection, businessId }: Pick<SalesRequest, "connection" | "businessId">,
): Promise<number> {
  const clauses = clausesOf({ connection, businessId, ended: true });
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from documents as d where ${sql.join(clauses, sql` and `)}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

/** What names a sale in the ledger. */
export interface SaleOfBusiness {
  connection: string;
  businessId: string;
  number: string;
}

/** Those of these sales that are open, and not marked as ended; or those that are marked so. */
export async function among(
  db: Queries,
  sales: readonly SaleOfBusiness[],
  which: "open" | "ended",
): Promise<SaleOfBusiness[]> {
  if (sales.length === 0) return [];
  // Arrays: a statement has no more than 65,535 parameters.
  const [connections, businesses, numbers] = [
    sales.map(({ connection }) => connection),
    sales.map(({ businessId }) => businessId),
    sales.map(({ number }) => storableText(number)),
  ];
  const { rows } = await sql<SaleOfBusiness>`
    select d.connection, d.business_id as "businessId", d.number from documents as d
    where (d.connection, d.business_id, d.type, d.number) in (
      select s.connection, s.business_id, 'sale', s.number
      from unnest(${connections}::text[], ${businesses}::text[], ${numbers}::text[]) as s (connection, business_id, number))
      and ${which === "ended" ? IS_ENDED : sql`d.closed is null and ${IS_OPEN}`}`.execute(db);
  return rows;
}

/** A row whose run ended without an outcome. */
export interface ClosedRow {
  business: { connection: string; businessId: string };
  of: { type: "sale" | "credit_note"; number: string };
  /** The run that ended, or one before it. */
  writer: Writer;
}

/** Every row that is marked so, of all businesses. */
export async function closedRows(db: Queries): Promise<ClosedRow[]> {
  const rows = await db
    .selectFrom("documents")
    .select(["connection", "business_id", "type", "number", "workflow_id", "run_id"])
    .where("closed", "is not", null)
    .execute();
  return rows.map(({ connection, business_id, type, number, workflow_id: workflowId, run_id: runId }) => ({
    business: { connection, businessId: business_id },
    of: { type, number },
    writer: { workflowId, runId },
  }));
}

/** Two documents under one intent: the one that counts, and another one that somebody was told of later. */
export interface SecondDocument {
  /** Of the sale, or of the credit note's sale. */
  workflowId: string;
  recorded: string;
  reported: string;
  /** When it was reported last (Unix milliseconds). */
  atMs: number;
}

const MOST = 100;

/** The latest first. */
export async function contradicted(db: Queries, days: number): Promise<SecondDocument[]> {
  const { rows } = await sql<SecondDocument>`
    select workflow_id as "workflowId", content::json #>> '{detail,recorded}' as recorded,
      content::json #>> '{detail,documentId}' as reported, ${unixMs(sql`max(at)`)} as "atMs"
    from events
    where kind = ${sql.lit(kindOf("contradicted"))} and at > clock_timestamp() - ${days} * interval '1 day'
    group by 1, 2, 3 order by 4 desc limit ${MOST}`.execute(db);
  return rows;
}
