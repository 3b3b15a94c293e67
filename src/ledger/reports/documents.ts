import { type RawBuilder, sql } from "kysely";

import { givenText, type Receipt } from "../../contract/index.ts";
import { KNOWN_PAYMENT_TYPES } from "../../contract/payment-type.ts";
import type { Database, Queries } from "../database.ts";
import { pagesOf, readOneState } from "../one-state.ts";
import type { BusinessDocuments, DocumentsOfBusiness, DocumentsRequest, ListedDocument } from "./listed.ts";
import { readFigures } from "./figures.ts";
import { IN_ANOTHER_MONTH, signedOutside, TODAY } from "./odd-dates.ts";
import type { BusinessFigures, Days } from "./report.ts";
import { type Chain, chainsOf, GIVEN_UP, issuedDocuments, linesOf, PIN_MALFORMED } from "./signed.ts";

/**
 * Gives `read` the documents of a period, page by page, all from one state of the ledger. `read` runs once.
 * @throws LedgerUnavailableError, LedgerError, and what `read` throws
 */
export function readDocuments<Result>(
  database: Database,
  request: DocumentsRequest,
  read: (businesses: BusinessDocuments[]) => Promise<Result>,
): Promise<Result> {
  const prepare = async (db: Queries): Promise<BusinessDocuments[]> => {
    const businesses: BusinessDocuments[] = [];
    for (const chain of await chainsOf(db, request))
      businesses.push({
        ...(await readBusiness(db, chain, request.days)),
        pages: () => readPages(db, chain, request.days),
      });
    return businesses;
  };
  return readOneState(database, prepare, read);
}

async function readBusiness(db: Queries, chain: Chain, days: Days): Promise<DocumentsOfBusiness> {
  return { ...(await readFigures(db, chain, days)), ...(await countOthers(db, chain, days)) };
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
  { from, to }: Days,
): Promise<Omit<DocumentsOfBusiness, keyof BusinessFigures>> {
  type OfListed = "not_signed" | "given_up" | "malformed_pins" | "unknown_types" | "numbers_used_twice";
  type Counts = Record<OfListed | "not_issued" | "ended_not_issued", string>;
  const withoutDocument = sql`
    from documents
    where connection = ${chain.connection} and business_id = ${chain.business_id} and document_id is null
      and not failed and stage <> 'cancelled' and document_date between ${from} and ${to}`;
  const { rows } = await sql<Counts>`
    select
      count(*) filter (where status is distinct from 'completed' and not ${GIVEN_UP}) as not_signed,
      count(*) filter (where ${GIVEN_UP}) as given_up,
      count(*) filter (where ${PIN_MALFORMED}) as malformed_pins,
      count(*) filter (where payment_type_code not in (${sql.join(KNOWN_PAYMENT_TYPES)})) as unknown_types,
      count(distinct own_number) filter (where number_used_twice) as numbers_used_twice,
      (select count(*) ${withoutDocument} and closed is null) as not_issued,
      (select count(*) ${withoutDocument} and closed is not null) as ended_not_issued
    from (${numberedDocuments(chain, { from, to })}) as listed`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("a count has one row");
  return {
    notSigned: Number(row.not_signed),
    givenUp: Number(row.given_up),
    malformedPins: Number(row.malformed_pins),
    unknownPaymentTypes: Number(row.unknown_types),
    numbersUsedTwice: Number(row.numbers_used_twice),
    notIssued: Number(row.not_issued),
    endedNotIssued: Number(row.ended_not_issued),
  };
}

async function* readPages(db: Queries, chain: Chain, days: Days): AsyncGenerator<ListedDocument[]> {
  for await (const rows of pagesOf<Row>(db, documentsQuery(chain, days))) yield rows.map((row) => listed(chain, row));
}

interface Row {
  type: "sale" | "credit_note";
  number: string;
  document_id: string;
  status: string | null;
  stage: string;
  document_date: string;
  signed_on: string | null;
  given_up: boolean;
  number_used_twice: boolean;
  in_future: boolean;
  in_another_month: boolean | null;
  outside_period: boolean | null;
  cu_invoice_no: string | null;
  receipt: Receipt | null;
  customer_name: string | null;
  customer_pin: string | null;
  pin_malformed: boolean | null;
  payment_type_code: string | null;
  total: string | null;
  taxable_amount: string | null;
  tax_amount: string | null;
  taxes: ListedDocument["taxes"] | null;
  original_document_id: string | null;
  refund_reason: string | null;
  reversed_number: string | null;
  reversed_date: string | null;
  reversed_cu_invoice_no: string | null;
}

/** The row of a sale does not learn of a refund after its window. */
const CREDITED_LATER = sql`d.type = 'sale' and d.stage = 'completed' and exists (
  select from documents as note
  where note.connection = d.connection and note.business_id = d.business_id and note.type = 'credit_note'
    and note.original_document_id = d.document_id and note.status = 'completed')`;

function documentsQuery(chain: Chain, days: Days): RawBuilder<unknown> {
  return sql`
    select d.type, d.own_number as number, d.number_used_twice, d.document_id, d.status,
      case when ${CREDITED_LATER} then 'credited' else d.stage end as stage,
      ${GIVEN_UP} as given_up, ${PIN_MALFORMED} as pin_malformed,
      d.document_date, d.signed_on, d.document_date > ${TODAY} as in_future, ${IN_ANOTHER_MONTH} as in_another_month,
      ${signedOutside(days)} as outside_period,
      d.cu_invoice_no, d.receipt, d.customer_name, d.customer_pin, d.payment_type_code,
      d.total, d.taxable_amount, d.tax_amount, by_rate.taxes, d.original_document_id, d.refund_reason,
      reversed.number as reversed_number, reversed.reversed_date, reversed.cu_invoice_no as reversed_cu_invoice_no
    from (${numberedDocuments(chain, days)}) as d
    left join lateral (
      select json_agg(json_build_object('taxRate', tax_rate::text, 'taxTypeCode', tax_type_code, 'total', total::text,
        'taxableAmount', taxable::text, 'taxAmount', tax::text) order by tax_rate desc, tax_type_code) as taxes
      from (
        select tax_rate, tax_type_code, sum(total) as total, sum(taxable_amount) as taxable, sum(tax_amount) as tax
        from ${linesOf("d.document")} as l group by tax_rate, tax_type_code) as rates) as by_rate on true
    left join lateral (
      select coalesce(s.document_number, s.number) as number, s.document_date as reversed_date, s.cu_invoice_no from documents as s
      where s.connection = d.connection and s.business_id = d.business_id and d.type = 'credit_note'
        and s.document_id = d.original_document_id and s.type = 'sale' limit 1) as reversed on true
    order by d.document_date, 2, d.type`;
}

function listed({ connection, business_id }: Chain, row: Row): ListedDocument {
  const { original_document_id: reversedId, receipt } = row;
  return {
    connection,
    businessId: business_id,
    type: row.type,
    number: row.number,
    numberUsedTwice: row.number_used_twice,
    documentId: row.document_id,
    status: row.status,
    stage: row.stage,
    givenUp: row.given_up,
    date: row.document_date,
    signedOn: row.signed_on,
    inFuture: row.in_future,
    signedInAnotherMonth: row.in_another_month,
    signedOutsidePeriod: row.outside_period,
    // The days are texts that sort as days do.
    datedBeforeSale: row.reversed_date === null ? null : row.document_date < row.reversed_date,
    cuInvoiceNo: row.cu_invoice_no,
    receiptNumber: receipt?.receiptNumber ?? null,
    receiptLabel: givenText(receipt?.receiptLabel),
    signedTime: givenText(receipt?.scuTime),
    customerName: row.customer_name,
    customerPin: row.customer_pin,
    customerPinMalformed: row.pin_malformed,
    paymentTypeCode: row.payment_type_code,
    total: row.total,
    taxableAmount: row.taxable_amount,
    taxAmount: row.tax_amount,
    taxes: row.taxes ?? [],
    refundReason: row.refund_reason,
    reverses:
      row.type === "credit_note"
        ? {
            documentId: reversedId,
            number: row.reversed_number,
            date: row.reversed_date,
            cuInvoiceNo: receipt?.originalCuInvoiceNo || row.reversed_cu_invoice_no,
          }
        : null,
  };
}
