import { type RawBuilder, sql } from "kysely";

import { givenText, type Receipt } from "../../contract/index.ts";
import { KNOWN_PAYMENT_TYPES } from "../../contract/codes.ts";
import type { Database, Queries } from "../database.ts";
import { pagesOf, readOneState } from "../one-state.ts";
import type { Chain } from "../events/verify-rows.ts";
import { chainsOf, GIVEN_UP, IN_ANOTHER_MONTH, issuedDocuments, linesOf } from "./figures.ts";
import { PIN_MALFORMED, readFigures, signedOutside, TODAY } from "./figures.ts";
import type { BusinessDocuments, BusinessFigures, Days, DocumentsOfBusiness } from "./report-types.ts";
import type { PeriodRequest, ListedDocument } from "./report-types.ts";

/**
 * Gives `read` the documents of a period, page by page, all from one state of the ledger. `read` runs once.
 * @throws LedgerUnavailableError, LedgerError, and what `read` throws
 */
export function readDocuments<Result>(
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
  return readOneState(database, prepare, read);
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
