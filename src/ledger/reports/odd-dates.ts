import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import type { AmountsOfMonths, Days, OddDates } from "./report.ts";
import { type Chain, signedDocuments } from "./signed.ts";

/** Today in Africa/Nairobi, as documents are dated. */
export const TODAY = sql<string>`to_char(clock_timestamp() at time zone 'Africa/Nairobi', 'YYYY-MM-DD')`;

/** Nothing where it is not known when the document was signed. */
export const IN_ANOTHER_MONTH = sql<boolean>`left(signed_on, 7) <> left(document_date, 7)`;

interface SumsRow {
  count: string;
  total: string;
  taxable: string;
  tax: string;
  months: string[];
}

export async function readOddDates(db: Queries, chain: Chain, days: Days): Promise<OddDates> {
  const signed = sql`(${signedDocuments(chain, days)}) as signed`;
  const { months: _none, ...inFuture } = await sumsOf(db, sql`''::text`, sql`${signed} where document_date > ${TODAY}`);
  return {
    inFuture,
    signedInAnotherMonth: await sumsOf(db, sql`left(signed_on, 7)`, sql`${signed} where ${IN_ANOTHER_MONTH}`),
    datedInAnotherMonth: await sumsOf(db, sql`left(document_date, 7)`, datedElsewhere(chain, days)),
  };
}

/** By its own index: what was signed in these days is not found by their dates. */
function datedElsewhere({ connection, business_id }: Chain, { from, to }: Days): RawBuilder<unknown> {
  return sql`
    (select distinct on (document_id) * from documents
    where connection = ${connection} and business_id = ${business_id} and status = 'completed'
      and ${IN_ANOTHER_MONTH} and signed_on between ${from} and ${to}
      and document_date not between ${from} and ${to}
    order by document_id) as elsewhere`;
}

async function sumsOf(
  db: Queries,
  month: RawBuilder<unknown>,
  documents: RawBuilder<unknown>,
): Promise<AmountsOfMonths> {
  const { rows } = await sql<SumsRow>`
    select count(*) as count, coalesce(sum(total), 0) as total, coalesce(sum(taxable_amount), 0) as taxable,
      coalesce(sum(tax_amount), 0) as tax, coalesce(json_agg(distinct ${month}), '[]') as months
    from ${documents}`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("a sum has one row");
  const { count, total, taxable, tax, months } = row;
  return { count: Number(count), total, taxableAmount: taxable, taxAmount: tax, months: months.toSorted() };
}
