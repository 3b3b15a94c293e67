import { type RawBuilder, sql } from "kysely";

import type { Attention, SaleContent, Stage } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";

export interface SalesRequest {
  connection?: string | undefined;
  businessId?: string | undefined;
  number?: string | undefined;
  stage?: Stage | undefined;
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
  /** A stock movement of it waits for its answer. */
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

const IS_OPEN = sql<boolean>`(
  not d.failed and (${NEEDS_PERSON} or ${STAGE} not in ('completed', 'credited', 'cancelled')))`;

const IS_ENDED = sql<boolean>`(d.closed is not null and not d.failed)`;

/** Whether the sale `d` has such a credit note. Looked up once for all sales, since few credit notes are such. */
function ofNotes(which: RawBuilder<boolean> | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`coalesce((d.connection, d.business_id, d.document_id) in (
    select n.connection, n.business_id, n.original_document_id from documents as n
    where n.type = 'credit_note' and n.original_document_id is not null and ${which}), false)`;
}

/** Those first that are open, then the others, the latest of each first. */
export async function listSales(db: Queries, request: SalesRequest): Promise<SaleRow[]> {
  const { rows } = await sql<{
    connection: string;
    business_id: string;
    number: string;
    workflow_id: string;
    stage: Stage;
    is_open: boolean;
    is_moving: boolean;
    failed: boolean;
    closed: string | null;
    attentions: Attention[];
    attentions_of_note: Attention[] | null;
    credit_note: string | null;
    asked: SaleContent | null;
    customer: string | null;
    document_id: string | null;
    total: string | null;
    started_at: Date;
  }>`
    with found as (
      select d.*, ${STAGE} as stage_now, ${IS_OPEN} as is_open from documents as d
      where ${sql.join(clausesOf(request), sql` and `)}
      order by is_open desc, d.started_at desc, d.number limit ${request.limit})
    select d.connection, d.business_id, d.number, d.workflow_id, d.stage_now as stage, d.is_open, d.failed, d.closed,
      d.attentions, note.attentions as attentions_of_note, note.number as credit_note, d.asked,
      coalesce(d.customer_name, d.customer_pin) as customer, d.document_id, d.total, d.started_at,
      exists (select from movements as m where m.state = 'held'
        and (m.connection, m.business_id, m.type, m.number) = (d.connection, d.business_id, d.type, d.number)) as is_moving
    from found as d
    left join lateral (
      select n.number, n.attentions from documents as n
      where (n.connection, n.business_id, n.original_document_id) = (d.connection, d.business_id, d.document_id)
        and n.type = 'credit_note'
      order by n.status is not distinct from 'completed' desc, n.as_of desc limit 1) as note on true
    order by d.is_open desc, d.started_at desc, d.number`.execute(db);
  return rows.map((row) => ({
    connection: row.connection,
    businessId: row.business_id,
    number: row.number,
    workflowId: row.workflow_id,
    stage: row.stage,
    isOpen: row.is_open,
    isMoving: row.is_moving,
    failed: row.failed,
    closed: row.closed,
    attentions: [...row.attentions, ...(row.attentions_of_note ?? [])],
    // One that was given up keeps its number.
    creditNote: row.stage === "crediting" || row.stage === "credited" ? row.credit_note : null,
    asked: row.asked,
    customer: row.customer,
    documentId: row.document_id,
    total: row.total,
    startedAtMs: row.started_at.getTime(),
  }));
}

function clausesOf(request: Omit<SalesRequest, "limit">): RawBuilder<unknown>[] {
  const { connection, businessId, number, stage, from, to, attention, ended } = request;
  return [
    sql`d.type = 'sale'`,
    ...(connection === undefined ? [] : [sql`d.connection = ${connection}`]),
    ...(businessId === undefined ? [] : [sql`d.business_id = ${businessId}`]),
    ...(number === undefined ? [] : [sql`d.number = ${storableText(number)}`]),
    ...(from === undefined ? [] : [sql`d.document_date >= ${from}`]),
    ...(to === undefined ? [] : [sql`d.document_date <= ${to}`]),
    ...(stage === undefined ? [] : [sql`${STAGE} = ${stage}`]),
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
  const keys = sales.map(
    ({ connection, businessId, number }) => sql`(${connection}, ${businessId}, 'sale', ${storableText(number)})`,
  );
  const { rows } = await sql<{ connection: string; business_id: string; number: string }>`
    select d.connection, d.business_id, d.number from documents as d
    where (d.connection, d.business_id, d.type, d.number) in (${sql.join(keys)})
      and ${which === "ended" ? IS_ENDED : sql`d.closed is null and ${IS_OPEN}`}`.execute(db);
  return rows.map(({ connection, business_id: businessId, number }) => ({ connection, businessId, number }));
}
