import { type RawBuilder, sql } from "kysely";

import { ERASED, PIN } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Chain } from "../events/chain.ts";
import type { Amounts, BusinessFigures, Days, OddAmounts, OddDates, SignedFigures, TaxOfRate } from "./report-types.ts";

/** Whose rows a table has. */
export async function chainsOf(
  db: Queries,
  table: "documents" | "purchases" | "bill_payments",
  { connection, businessId }: { connection?: string | undefined; businessId?: string | undefined },
): Promise<Chain[]> {
  let query = db.selectFrom(table).select(["connection", "business_id"]).distinct();
  if (connection !== undefined) query = query.where("connection", "=", connection);
  if (businessId !== undefined) query = query.where("business_id", "=", businessId);
  return await query.orderBy("connection").orderBy("business_id").execute();
}

export const SALES = sql<boolean>`type = 'sale'`;
export const NOTES = sql<boolean>`type = 'credit_note'`;
export const ALL = sql<boolean>`true`;

const PIN_OF_BUYER = sql<string | null>`nullif(customer_pin, '')`;
const HAS_PIN = sql<boolean>`(${PIN_OF_BUYER} is not null)`;

/** Null where the document has no PIN, or had one that was erased. */
export const PIN_MALFORMED = sql<boolean | null>`nullif(${PIN_OF_BUYER}, ${ERASED}) !~ ${PIN.source}`;

/** Today in Africa/Nairobi, as documents are dated. */
export const TODAY = sql<string>`to_char(clock_timestamp() at time zone 'Africa/Nairobi', 'YYYY-MM-DD')`;

/** Null where it is not known when the document was signed. */
export const IN_ANOTHER_MONTH = sql<boolean | null>`left(signed_on, 7) <> left(document_date, 7)`;

/** Null where it is not known when the document was signed. */
export function signedOutside({ from, to }: Days): RawBuilder<boolean | null> {
  return sql<boolean | null>`signed_on not between ${from} and ${to}`;
}

/**
 * Nothing will sign it any more. What was given up while it was in flight does not belong to that: the authority may
 * sign it yet.
 */
export const GIVEN_UP = sql<boolean>`coalesce(
  status = 'cancelled' or (status = 'failed' and stage = 'cancelled'), false)`;

/**
 * The documents of a business that the service has, each once: where two workflows speak of one document (a second
 * credit note that found the first), the one that knows it as accepted counts, then one that has not given it up, and
 * then the one that asked for its number.
 */
export function issuedDocuments({ connection, business_id }: Chain, { from, to }: Days): RawBuilder<unknown> {
  return sql`
    select distinct on (document_id) * from documents
    where connection = ${connection} and business_id = ${business_id} and document_id is not null
      and document_date between ${from} and ${to}
    order by document_id, coalesce(status = 'completed', false) desc, ${GIVEN_UP},
      document_number = number desc, type, number`;
}

/** Those that the tax authority has accepted. */
export function signedDocuments(chain: Chain, days: Days): RawBuilder<unknown> {
  return sql`select * from (${issuedDocuments(chain, days)}) as issued where status = 'completed'`;
}

/**
 * The lines of a document, out of the service's answer, with its numbers as they are written; none where the ledger does
 * not have them yet.
 * @param document the column with the answer
 */
export function linesOf(document: string): RawBuilder<unknown> {
  return sql`(
    select "itemId" as item_id, nullif(name, '') as name, total, "taxableAmount" as taxable_amount, "taxAmount" as tax_amount,
      "taxRate" as tax_rate, nullif("taxTypeCode", '') as tax_type_code
    from jsonb_to_recordset(${sql.ref(document)} -> 'lines') as line (
      "itemId" text, name text, total numeric, "taxableAmount" numeric, "taxAmount" numeric, "taxRate" numeric,
      "taxTypeCode" text))`;
}

/** As a text: a JSON number would lose what the database has exactly. */
export function sumOf(column: string, which: RawBuilder<boolean>): RawBuilder<string> {
  return sql<string>`coalesce(sum(${sql.ref(column)}) filter (where ${which}), 0)::text`;
}

function sumsOf(which: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`json_build_object('total', ${sumOf("total", which)}, 'taxableAmount', ${sumOf("taxable_amount", which)},
    'taxAmount', ${sumOf("tax_amount", which)})`;
}

function amountsOf(which: RawBuilder<boolean>): RawBuilder<Amounts> {
  return sql<Amounts>`(jsonb_build_object('count', count(*) filter (where ${which})) || ${sumsOf(which)}::jsonb)`;
}

/** Of the documents or lines of which something is so: `of` the sales, the credit notes, and both. */
function byKind(of: (which: RawBuilder<boolean>) => RawBuilder<unknown>, which: RawBuilder<boolean>) {
  return sql`json_build_object('sales', ${of(sql`${which} and ${SALES}`)},
    'creditNotes', ${of(sql`${which} and ${NOTES}`)}, 'net', ${of(which)})`;
}

/** What a report and a list of documents say alike of a business. */
export async function readFigures(db: Queries, chain: Chain, days: Days): Promise<BusinessFigures> {
  type Totals = Omit<SignedFigures, "taxes">;
  const totals = await sql<Record<"all" | "withPin" | "withoutPin" | "malformedPin", Totals>>`
    select ${byKind(amountsOf, ALL)} as "all", ${byKind(amountsOf, HAS_PIN)} as "withPin",
      ${byKind(amountsOf, sql`not ${HAS_PIN}`)} as "withoutPin",
      ${byKind(amountsOf, sql`coalesce(${PIN_MALFORMED}, false)`)} as "malformedPin"
    from (${signedDocuments(chain, days)}) as signed`.execute(db);
  const [of] = totals.rows;
  if (!of) throw new Error("a sum has one row");
  type Group = Omit<TaxOfRate, "taxRate" | "taxTypeCode">;
  const rates = await sql<
    Pick<TaxOfRate, "taxRate" | "taxTypeCode"> & Record<"all" | "withPin" | "withoutPin", Group | null>
  >`
    with lines as (
      select type, customer_pin, l.* from (${signedDocuments(chain, days)}) as signed
      cross join lateral ${linesOf("document")} as l)
    select tax_rate as "taxRate", tax_type_code as "taxTypeCode", ${byKind(sumsOf, ALL)} as "all",
      case when bool_or(${HAS_PIN}) then ${byKind(sumsOf, HAS_PIN)} end as "withPin",
      case when bool_or(not ${HAS_PIN}) then ${byKind(sumsOf, sql`not ${HAS_PIN}`)} end as "withoutPin"
    from lines group by tax_rate, tax_type_code order by tax_rate desc, tax_type_code`.execute(db);
  const taxes = (group: "all" | "withPin" | "withoutPin"): TaxOfRate[] =>
    rates.rows.flatMap(({ taxRate, taxTypeCode, [group]: sums }) =>
      sums === null ? [] : [{ taxRate, taxTypeCode, ...sums }],
    );
  return {
    connection: chain.connection,
    businessId: chain.business_id,
    ...of.all,
    taxes: taxes("all"),
    buyers: {
      withPin: { ...of.withPin, taxes: taxes("withPin") },
      withoutPin: { ...of.withoutPin, taxes: taxes("withoutPin") },
      malformedPin: of.malformedPin,
    },
    oddDates: await readOddDates(db, chain, days),
  };
}

/** Of a table `signed`. Null where the ledger does not have the sale. */
const BEFORE_SALE = sql<boolean>`signed.type = 'credit_note' and document_date < (
  select sale.document_date from documents as sale
  where sale.connection = signed.connection and sale.business_id = signed.business_id and sale.type = 'sale'
    and sale.document_id = signed.original_document_id limit 1)`;

async function readOddDates(db: Queries, chain: Chain, days: Days): Promise<OddDates> {
  const { connection, business_id } = chain;
  const sums = sql`type, total, taxable_amount, tax_amount`;
  // What was signed in these days is not found by their dates, but by an index of its own.
  const { rows } = await sql<{ kind: keyof OddDates; type: "sale" | "credit_note"; of: Amounts; others: string[] }>`
    with signed as (${signedDocuments(chain, days)}),
    elsewhere as (
      select distinct on (document_id) * from documents
      where connection = ${connection} and business_id = ${business_id} and status = 'completed'
        and signed_on <> document_date and signed_on between ${days.from} and ${days.to}
        and document_date not between ${days.from} and ${days.to}
      order by document_id),
    odd as (
      select 'inFuture' as kind, null as other, ${sums} from signed where document_date > ${TODAY}
      union all select 'datedBeforeSale', null, ${sums} from signed where ${BEFORE_SALE}
      union all select 'signedInAnotherMonth', left(signed_on, 7), ${sums} from signed where ${IN_ANOTHER_MONTH}
      union all select 'signedOnAnotherDay', signed_on, ${sums} from signed
        where ${signedOutside(days)} and not ${IN_ANOTHER_MONTH}
      union all select 'datedInAnotherMonth', left(document_date, 7), ${sums} from elsewhere where ${IN_ANOTHER_MONTH}
      union all select 'datedOnAnotherDay', document_date, ${sums} from elsewhere where not ${IN_ANOTHER_MONTH})
    select kind, type, ${amountsOf(ALL)} as of,
      coalesce(json_agg(distinct other order by other) filter (where other is not null), '[]') as others
    from odd group by kind, type`.execute(db);
  const ofType = (kind: keyof OddDates, type: "sale" | "credit_note") => {
    const found = rows.find((row) => row.kind === kind && row.type === type);
    const none = { count: 0, total: "0", taxableAmount: "0", taxAmount: "0" };
    return { ...(found?.of ?? none), others: found?.others ?? [] };
  };
  const of = (kind: keyof OddDates): OddAmounts => ({
    sales: ofType(kind, "sale"),
    creditNotes: ofType(kind, "credit_note"),
  });
  return {
    inFuture: of("inFuture"),
    datedBeforeSale: of("datedBeforeSale"),
    signedInAnotherMonth: of("signedInAnotherMonth"),
    datedInAnotherMonth: of("datedInAnotherMonth"),
    signedOnAnotherDay: of("signedOnAnotherDay"),
    datedOnAnotherDay: of("datedOnAnotherDay"),
  };
}
