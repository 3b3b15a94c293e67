import { type RawBuilder, sql } from "kysely";

import { KNOWN_PAYMENT_TYPES } from "../../contract/codes.ts";
import { type Attention, givenText, type Receipt } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { Chain } from "../events/chain.ts";
import { pagesOf, readSnapshot } from "../snapshot.ts";
import { unixMs } from "../statements.ts";
import { IS_KNOWN_OVER, IS_REFUSED } from "../stock/movement.ts";
import {
  chainsOf,
  GIVEN_UP,
  IN_ANOTHER_MONTH,
  issuedDocuments,
  linesOf,
  NOTES,
  PIN_MALFORMED,
  readFigures,
  SALES,
  signedDocuments,
  signedOutside,
  sumOf,
  TODAY,
} from "./figures.ts";
import type {
  BusinessDocuments,
  BusinessFigures,
  BusinessReport,
  Days,
  DocumentsOfBusiness,
  EndedDocument,
  ListedDocument,
  MovementsOfItem,
  Paid,
  Period,
  PeriodRequest,
  ReportRequest,
} from "./report-types.ts";

export type Reports = ReturnType<typeof createReports>;

const READ_WITHIN_MS = 60_000;

/** Functions throw LedgerUnavailableError. */
export function createReports(database: Database) {
  return {
    /** One for each business that has documents; all of a report is read from one state. */
    read: (request: ReportRequest): Promise<BusinessReport[]> =>
      database.transact(async (db) => {
        await sql`set transaction isolation level repeatable read read only`.execute(db);
        const reports: BusinessReport[] = [];
        for (const chain of await chainsOf(db, "documents", request))
          reports.push(await readReport(db, chain, request.period));
        return reports;
      }, READ_WITHIN_MS),
    /**
     * Gives `read` each document of a period, in pages and from one state; `read` runs once.
     * @throws LedgerUnavailableError also where the connection breaks before the last page, and what `read` throws
     */
    documents: <Result>(request: PeriodRequest, read: (businesses: BusinessDocuments[]) => Promise<Result>) =>
      readDocuments(database, request, read),
  };
}

async function readReport(db: Queries, chain: Chain, period: Period): Promise<BusinessReport> {
  return {
    ...(await readFigures(db, chain, period)),
    payments: await readPayments(db, chain, period),
    ...(await readCourse(db, chain, period)),
    movements: await readMovements(db, chain, period),
    ...(await readOpen(db, chain)),
  };
}

/** Count and total of the sales, and of the credit notes. */
const PAID = sql`
  json_build_object('count', count(*) filter (where ${SALES}), 'total', ${sumOf("total", SALES)}) as sales,
  json_build_object('count', count(*) filter (where ${NOTES}), 'total', ${sumOf("total", NOTES)}) as "creditNotes"`;

async function readPayments(db: Queries, chain: Chain, period: Period): Promise<BusinessReport["payments"]> {
  const { rows } = await sql<BusinessReport["payments"][number]>`
    select payment_type_code as "paymentTypeCode", count(*)::int as count, coalesce(sum(total), 0) as total, ${PAID}
    from (${signedDocuments(chain, period)}) as signed
    group by payment_type_code order by payment_type_code`.execute(db);
  return rows;
}

/**
 * Of a month by day; of a day by the hour in which each was started, since a document carries a date alone. What was
 * started on another day has no hour of the day, and is summed apart.
 */
async function readCourse(
  db: Queries,
  chain: Chain,
  period: Period,
): Promise<Pick<BusinessReport, "course" | "notInCourse">> {
  const started = sql`started_at at time zone 'Africa/Nairobi'`;
  const at =
    period.kind === "month"
      ? sql`document_date`
      : sql`case when to_char(${started}, 'YYYY-MM-DD') = document_date then to_char(${started}, 'HH24') end`;
  const { rows } = await sql<{ at: string | null; sales: Paid; creditNotes: Paid }>`
    select ${at} as at, ${PAID} from (${signedDocuments(chain, period)}) as signed group by 1 order by 1`.execute(db);
  const elsewhere = rows.find(({ at: when }) => when === null);
  const none: Paid = { count: 0, total: "0" };
  return {
    course: rows.flatMap(({ at: when, sales, creditNotes }) =>
      when === null ? [] : [{ at: when, sales: sales.total, creditNotes: creditNotes.total }],
    ),
    notInCourse: { sales: elsewhere?.sales ?? none, creditNotes: elsewhere?.creditNotes ?? none },
  };
}

/** Where the record of a sale says that goods came back by its refund: on which day the signed credit note is dated. */
const RETURNED_ON = sql<string | null>`(
  select note.document_date from documents as note
  where note.connection = m.connection and note.business_id = m.business_id and note.type = 'credit_note'
    and note.original_document_id = d.document_id and note.status = 'completed'
    and m.type = 'sale' and m.purpose = 'restocked'
  order by note.number limit 1)`;

/**
 * Movements of the period's documents, by item, each reference once. Goods that came back by a refund belong to the
 * credit note, whichever workflow returned them: the sale's does while it is open, and the credit note's afterwards.
 */
async function readMovements(
  db: Queries,
  { connection, business_id }: Chain,
  { from, to }: Period,
): Promise<MovementsOfItem[]> {
  const { rows } = await sql<MovementsOfItem>`
    with documents_of_period as (
      select connection, business_id, type, number, document_id, original_document_id, document_date, closed, document
      from documents
      where connection = ${connection} and business_id = ${business_id} and document_date between ${from} and ${to}),
    with_reversed as (
      select connection, business_id, type, number, document_id, document_date, closed from documents_of_period
      union
      select s.connection, s.business_id, s.type, s.number, s.document_id, s.document_date, s.closed
      from documents as s join documents_of_period as note
        on s.connection = note.connection and s.business_id = note.business_id
          and s.document_id = note.original_document_id
      where s.type = 'sale' and note.type = 'credit_note'),
    moved as (
      select m.item_id, m.quantity, m.action, m.undoes, m.decision, m.state, m.disputed,
        ${IS_KNOWN_OVER} as is_over, ${IS_REFUSED} as is_refused
      from movements as m join with_reversed as d using (connection, business_id, type, number)
      where m.state <> 'closed' and coalesce(${RETURNED_ON}, d.document_date) between ${from} and ${to}),
    named as (
      select l.item_id, max(l.name) as name
      from documents_of_period cross join lateral ${linesOf("document")} as l group by l.item_id)
    select item_id as "itemId", max(named.name) as name,
      coalesce(sum(quantity) filter (where state = 'applied' and action = 'DEDUCT'), 0) as taken,
      coalesce(sum(quantity) filter (where state = 'applied' and undoes is not null), 0) as "givenBack",
      coalesce(sum(quantity) filter (where state = 'applied' and action = 'ADD' and undoes is null), 0)
        as "returnedByDecision",
      (count(*) filter (where state = 'held' and is_over))::int as unknown,
      (count(*) filter (where is_refused))::int as "notMade",
      (count(*) filter (where decision -> 'contradicts' is not null))::int as "againstBalance",
      (count(*) filter (where disputed))::int as disputed
    from moved left join named using (item_id) group by item_id order by item_id`.execute(db);
  return rows;
}

const MOST_LISTED = 1_000;

/** What is not through, since when, and how much of its money is at risk. */
function openDocuments({ connection, business_id }: Chain): RawBuilder<unknown> {
  return sql`
    select d.*,
      coalesce(d.needs_person_since, d.started_at) as since,
      case when d.status = 'completed'
        then coalesce((select sum(m.quantity * m.unit_price) from movements as m
          where (m.connection, m.business_id, m.type, m.number) = (d.connection, d.business_id, d.type, d.number)
            and (m.state = 'held' and ${IS_KNOWN_OVER} or ${IS_REFUSED})), 0)
        else abs(coalesce(d.total, d.asked_total, reversed.total, 0)) end as at_risk
    from documents as d
    left join lateral (
      select total from documents as s
      where s.connection = d.connection and s.business_id = d.business_id and d.type = 'credit_note'
        and s.document_id = d.original_document_id and s.type = 'sale' limit 1) as reversed on true
    where d.connection = ${connection} and d.business_id = ${business_id} and not d.failed
      and (d.stage not in ('completed', 'crediting', 'credited', 'cancelled') or d.needs_person_since is not null)`;
}

/**
 * What is not through, the one that has waited longest first. What no run carries on is listed apart: nothing changes
 * it by itself.
 */
async function readOpen(
  db: Queries,
  chain: Chain,
): Promise<Pick<BusinessReport, "open" | "moreOpen" | "openByCode" | "atRisk" | "ended">> {
  const ms = (column: string) => unixMs(sql.ref(column));
  type Found = Omit<EndedDocument, "attentions" | "status"> & { attentions: Attention[]; status: string | null };
  const { rows } = await sql<{ document: Found } & Record<"ofAll" | "allAtRisk", string>>`
    with ranked as (
      select *, row_number() over of_kind as rank,
        count(*) over all_of_kind as of_all, sum(at_risk) over all_of_kind as all_at_risk
      from (${openDocuments(chain)}) as open window all_of_kind as (partition by closed is not null),
        of_kind as (all_of_kind order by since, type, number))
    select of_all as "ofAll", all_at_risk as "allAtRisk", json_build_object('type', type, 'number', number,
      'stage', stage, 'documentId', document_id, 'attentions', attentions, 'startedAtMs', ${ms("started_at")},
      'sinceMs', ${ms("since")}, 'atRisk', at_risk::text, 'status', closed, 'endedAtMs', ${ms("closed_at")}) as document
    from ranked where rank <= ${MOST_LISTED} order by since, type, number`.execute(db);
  const { rows: openByCode } = await sql<BusinessReport["openByCode"][number]>`
    select attentions -> 0 ->> 'code' as code, count(*)::int as count, sum(at_risk) as "atRisk"
    from (${openDocuments(chain)}) as open where closed is null group by 1 order by sum(at_risk) desc, 1`.execute(db);
  const open = rows.filter(({ document }) => document.status === null);
  const ended = rows.filter(({ document }) => document.status !== null);
  const amount = (of: typeof rows) => of[0]?.allAtRisk ?? "0";
  const more = (of: typeof rows) => Number(of[0]?.ofAll ?? 0) - of.length;
  return {
    open: open.map(({ document: { status: _status, endedAtMs: _endedAtMs, ...document } }) =>
      withoutEvidence(document),
    ),
    moreOpen: more(open),
    openByCode,
    atRisk: amount(open),
    ended: {
      documents: ended.map(({ document }) => withoutEvidence({ ...document, status: document.status ?? "" })),
      more: more(ended),
      amount: amount(ended),
    },
  };
}

/** Without what only the operator's own page of it has. */
function withoutEvidence<Document extends { attentions: Attention[] }>(document: Document) {
  const attentions = document.attentions.map(({ code, subject, message, sinceMs }) => {
    return { code, ...(subject !== undefined && { subject }), message, sinceMs };
  });
  return { ...document, attentions };
}

/**
 * Gives `read` the documents of a period, page by page, all from one state of the ledger. `read` runs once.
 * @throws LedgerUnavailableError, LedgerError, and what `read` throws
 */
function readDocuments<Result>(
  database: Database,
  request: PeriodRequest,
  read: (businesses: BusinessDocuments[]) => Promise<Result>,
): Promise<Result> {
  const prepare = async (db: Queries): Promise<BusinessDocuments[]> => {
    const businesses: BusinessDocuments[] = [];
    for (const chain of await chainsOf(db, "documents", request))
      businesses.push({
        ...(await readFigures(db, chain, request.days)),
        ...(await countOthers(db, chain, request.days)),
        pages: () => readPages(db, chain, request.days),
      });
    return businesses;
  };
  return readSnapshot(database, prepare, read);
}

/** With the number of the document, also where another one was asked for, and whether another among these has it. */
function numberedDocuments(chain: Chain, days: Days): RawBuilder<unknown> {
  return sql`
    select *, count(*) over (partition by own_number) > 1 as number_used_twice
    from (
      select *, coalesce(document_number, number) as own_number
      from (${issuedDocuments(chain, days)}) as issued) as numbered`;
}

async function countOthers(
  db: Queries,
  chain: Chain,
  days: Days,
): Promise<Omit<DocumentsOfBusiness, keyof BusinessFigures>> {
  const count = (which: RawBuilder<unknown>) => sql`(count(*) filter (where ${which}))::int`;
  const withoutDocument = sql`
    from documents
    where connection = ${chain.connection} and business_id = ${chain.business_id} and document_id is null
      and not failed and stage <> 'cancelled' and document_date between ${days.from} and ${days.to}`;
  const { rows } = await sql<Omit<DocumentsOfBusiness, keyof BusinessFigures>>`
    select
      ${count(sql`status is distinct from 'completed' and not ${GIVEN_UP}`)} as "notSigned",
      ${count(GIVEN_UP)} as "givenUp",
      ${count(PIN_MALFORMED)} as "malformedPins",
      ${count(sql`payment_type_code not in (${sql.join(KNOWN_PAYMENT_TYPES)})`)} as "unknownPaymentTypes",
      (count(distinct own_number) filter (where number_used_twice))::int as "numbersUsedTwice",
      (select count(*)::int ${withoutDocument} and closed is null) as "notIssued",
      (select count(*)::int ${withoutDocument} and closed is not null) as "endedNotIssued"
    from (${numberedDocuments(chain, days)}) as listed`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("a count has one row");
  return row;
}

async function* readPages(db: Queries, chain: Chain, days: Days): AsyncGenerator<ListedDocument[]> {
  for await (const rows of pagesOf<Row>(db, documentsQuery(chain, days)))
    yield rows.map(({ receipt, reverses, ...row }) => ({
      connection: chain.connection,
      businessId: chain.business_id,
      ...row,
      receiptNumber: receipt?.receiptNumber ?? null,
      receiptLabel: givenText(receipt?.receiptLabel),
      signedTime: givenText(receipt?.scuTime),
      reverses: reverses && { ...reverses, cuInvoiceNo: receipt?.originalCuInvoiceNo || reverses.cuInvoiceNo },
    }));
}

type OfReceipt = "receiptNumber" | "receiptLabel" | "signedTime";
type Row = Omit<ListedDocument, "connection" | "businessId" | OfReceipt> & { receipt: Receipt | null };

/** The row of a sale does not learn of a refund after its window. */
const CREDITED_LATER = sql`d.type = 'sale' and d.stage = 'completed' and exists (
  select from documents as note
  where note.connection = d.connection and note.business_id = d.business_id and note.type = 'credit_note'
    and note.original_document_id = d.document_id and note.status = 'completed')`;

function documentsQuery(chain: Chain, days: Days): RawBuilder<unknown> {
  return sql`
    select d.type, d.own_number as number, d.number_used_twice as "numberUsedTwice", d.document_id as "documentId", d.status,
      case when ${CREDITED_LATER} then 'credited' else d.stage end as stage, ${GIVEN_UP} as "givenUp",
      d.document_date as date, d.signed_on as "signedOn", d.document_date > ${TODAY} as "inFuture",
      ${IN_ANOTHER_MONTH} as "signedInAnotherMonth", ${signedOutside(days)} as "signedOutsidePeriod",
      d.document_date < reversed.date as "datedBeforeSale", d.cu_invoice_no as "cuInvoiceNo", d.receipt,
      d.customer_name as "customerName", d.customer_pin as "customerPin", ${PIN_MALFORMED} as "customerPinMalformed",
      d.payment_type_code as "paymentTypeCode", d.total, d.taxable_amount as "taxableAmount", d.tax_amount as "taxAmount",
      coalesce(by_rate.taxes, '[]') as taxes, d.refund_reason as "refundReason",
      case when d.type = 'credit_note' then json_build_object('documentId', d.original_document_id,
        'number', reversed.number, 'date', reversed.date, 'cuInvoiceNo', reversed.cu_invoice_no) end as reverses
    from (${numberedDocuments(chain, days)}) as d
    left join lateral (
      select json_agg(json_build_object('taxRate', tax_rate::text, 'taxTypeCode', tax_type_code, 'total', total::text,
        'taxableAmount', taxable::text, 'taxAmount', tax::text) order by tax_rate desc, tax_type_code) as taxes
      from (
        select tax_rate, tax_type_code, sum(total) as total, sum(taxable_amount) as taxable, sum(tax_amount) as tax
        from ${linesOf("d.document")} as l group by tax_rate, tax_type_code) as rates) as by_rate on true
    left join lateral (
      select coalesce(s.document_number, s.number) as number, s.document_date as date, s.cu_invoice_no
      from documents as s
      where s.connection = d.connection and s.business_id = d.business_id and d.type = 'credit_note'
        and s.document_id = d.original_document_id and s.type = 'sale' limit 1) as reversed on true
    order by d.document_date, 2, d.type`;
}
