import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import type { Amounts, AmountsOfDays, AmountsOfMonths, Days, OddAmounts, OddDates } from "./report.ts";
import { ALL, amountsOf, type Chain, NOTES, SALES, signedDocuments } from "./signed.ts";

/** Today in Africa/Nairobi, as documents are dated. */
export const TODAY = sql<string>`to_char(clock_timestamp() at time zone 'Africa/Nairobi', 'YYYY-MM-DD')`;

/** Nothing where it is not known when the document was signed. */
export const IN_ANOTHER_MONTH = sql<boolean>`left(signed_on, 7) <> left(document_date, 7)`;

/** Of a table `signed`. Nothing where the ledger does not have the sale. */
const BEFORE_SALE = sql<boolean>`signed.type = 'credit_note' and document_date < (
  select sale.document_date from documents as sale
  where sale.connection = signed.connection and sale.business_id = signed.business_id and sale.type = 'sale'
    and sale.document_id = signed.original_document_id limit 1)`;

interface SumsRow {
  net: Amounts;
  sales: Amounts;
  notes: Amounts;
  others: OthersOf;
}

/** The other months or days: of all, of the sales and of the credit notes. */
type OthersOf = Record<"net" | "sales" | "notes", string[]>;

interface OddSums {
  amounts: OddAmounts;
  others: OthersOf;
}

export async function readOddDates(db: Queries, chain: Chain, days: Days): Promise<OddDates> {
  const signed = sql`(${signedDocuments(chain, days)}) as signed`;
  const elsewhere = datedElsewhere(chain, days);
  const future = await sumsOf(db, sql`''::text`, sql`${signed} where document_date > ${TODAY}`);
  const before = await sumsOf(db, sql`''::text`, sql`${signed} where ${BEFORE_SALE}`);
  const late = await sumsOf(db, sql`left(signed_on, 7)`, sql`${signed} where ${IN_ANOTHER_MONTH}`);
  const early = await sumsOf(db, sql`left(document_date, 7)`, sql`${elsewhere} where ${IN_ANOTHER_MONTH}`);
  const ofDays = async (day: RawBuilder<unknown>, documents: RawBuilder<unknown>) =>
    areWholeMonths(days) ? null : withDays(await sumsOf(db, day, sql`${documents} and not ${IN_ANOTHER_MONTH}`));
  return {
    inFuture: future.amounts,
    datedBeforeSale: before.amounts.creditNotes,
    signedInAnotherMonth: withMonths(late),
    datedInAnotherMonth: withMonths(early),
    signedOnAnotherDay: await ofDays(sql`signed_on`, sql`${signed} where ${signedOutside(days)}`),
    datedOnAnotherDay: await ofDays(sql`document_date`, sql`${elsewhere} where true`),
  };
}

function areWholeMonths({ from, to }: Days): boolean {
  const after = new Date(to);
  after.setUTCDate(after.getUTCDate() + 1);
  return from.endsWith("-01") && after.getUTCDate() === 1;
}

function withMonths({ amounts, others }: OddSums): AmountsOfMonths {
  const sales = { ...amounts.sales, months: others.sales };
  const creditNotes = { ...amounts.creditNotes, months: others.notes };
  return { ...amounts, months: others.net, sales, creditNotes };
}

function withDays({ amounts, others }: OddSums): AmountsOfDays {
  const sales = { ...amounts.sales, days: others.sales };
  const creditNotes = { ...amounts.creditNotes, days: others.notes };
  return { ...amounts, days: others.net, sales, creditNotes };
}

/** Nothing where it is not known when the document was signed. */
export function signedOutside({ from, to }: Days): RawBuilder<boolean> {
  return sql<boolean>`signed_on not between ${from} and ${to}`;
}

/** By its own index: what was signed in these days is not found by their dates. */
function datedElsewhere({ connection, business_id }: Chain, { from, to }: Days): RawBuilder<unknown> {
  return sql`
    (select distinct on (document_id) * from documents
    where connection = ${connection} and business_id = ${business_id} and status = 'completed'
      and signed_on <> document_date and signed_on between ${from} and ${to}
      and document_date not between ${from} and ${to}
    order by document_id) as elsewhere`;
}

async function sumsOf(db: Queries, other: RawBuilder<unknown>, documents: RawBuilder<unknown>): Promise<OddSums> {
  const othersOf = (filter: RawBuilder<unknown>) =>
    sql`coalesce(json_agg(distinct ${other}) filter (where ${filter}), '[]')`;
  const { rows } = await sql<SumsRow>`
    select ${amountsOf(ALL)} as net, ${amountsOf(SALES)} as sales, ${amountsOf(NOTES)} as notes,
      json_build_object('net', ${othersOf(ALL)}, 'sales', ${othersOf(SALES)}, 'notes', ${othersOf(NOTES)}) as others
    from ${documents}`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("a sum has one row");
  const { net, sales, notes, others } = row;
  const ascending = { net: others.net.toSorted(), sales: others.sales.toSorted(), notes: others.notes.toSorted() };
  return { amounts: { ...net, sales, creditNotes: notes }, others: ascending };
}
