import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import type { Amounts, BusinessReport, Days, Period, SignedFigures, TaxOfRate } from "./report.ts";
import { ALL, amountsOf, type Chain, linesOf, NOTES, SALES, signedDocuments } from "./signed.ts";

type Totals = Pick<SignedFigures, "sales" | "creditNotes" | "net">;

/** Sums of sales, of credit notes, and of both, in one reading. */
const TOTALS = sql`${amountsOf(SALES)} as sales, ${amountsOf(NOTES)} as "creditNotes", ${amountsOf(ALL)} as net`;

export async function readTotals(db: Queries, chain: Chain, days: Days, which: RawBuilder<boolean>): Promise<Totals> {
  const { rows } = await sql<Totals>`
    select ${TOTALS} from (${signedDocuments(chain, days, which)}) as signed`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("a sum has one row");
  return row;
}

export async function readTaxes(
  db: Queries,
  chain: Chain,
  days: Days,
  which: RawBuilder<boolean>,
): Promise<TaxOfRate[]> {
  const { rows } = await sql<Totals & Pick<TaxOfRate, "taxRate" | "taxTypeCode">>`
    with signed as (${signedDocuments(chain, days, which)}), lines as (
      select type, l.* from signed cross join lateral ${linesOf("document")} as l)
    select tax_rate as "taxRate", tax_type_code as "taxTypeCode", ${TOTALS} from lines
    group by tax_rate, tax_type_code order by tax_rate desc, tax_type_code`.execute(db);
  // Lines that are counted say nothing.
  const sums = ({ count: _count, ...amounts }: Amounts) => amounts;
  return rows.map(({ taxRate, taxTypeCode, sales, creditNotes, net }) => {
    return { taxRate, taxTypeCode, sales: sums(sales), creditNotes: sums(creditNotes), net: sums(net) };
  });
}

export async function readPayments(db: Queries, chain: Chain, period: Period): Promise<BusinessReport["payments"]> {
  const of = (which: RawBuilder<boolean>) =>
    sql`json_build_object('count', count(*) filter (where ${which}),
      'total', coalesce(sum(total) filter (where ${which}), 0)::text)`;
  const { rows } = await sql<BusinessReport["payments"][number]>`
    select payment_type_code as "paymentTypeCode", count(*)::int as count, coalesce(sum(total), 0) as total,
      ${of(SALES)} as sales, ${of(NOTES)} as "creditNotes"
    from (${signedDocuments(chain, period)}) as signed
    group by payment_type_code order by payment_type_code`.execute(db);
  return rows;
}

/**
 * Of a month by day; of a day by the hour in which each was started, since a document carries a date alone. What was
 * started on another day has no hour of the day, and is summed apart.
 */
export async function readCourse(
  db: Queries,
  chain: Chain,
  period: Period,
): Promise<Pick<BusinessReport, "course" | "notInCourse">> {
  const started = sql`started_at at time zone 'Africa/Nairobi'`;
  const at =
    period.kind === "month"
      ? sql`document_date`
      : sql`case when to_char(${started}, 'YYYY-MM-DD') = document_date then to_char(${started}, 'HH24') end`;
  type Row = Record<"sales" | "notes" | "total", string> & Record<"sale_count" | "note_count", number>;
  const { rows } = await sql<Row & { at: string | null }>`
    select ${at} as at, coalesce(sum(total) filter (where ${SALES}), 0) as sales, coalesce(sum(total), 0) as total,
      coalesce(sum(total) filter (where ${NOTES}), 0) as notes,
      (count(*) filter (where ${SALES}))::int as sale_count, (count(*) filter (where ${NOTES}))::int as note_count
    from (${signedDocuments(chain, period)}) as signed group by 1 order by 1`.execute(db);
  const elsewhere = rows.find(({ at: when }) => when === null);
  const counts = { sales: elsewhere?.sale_count ?? 0, creditNotes: elsewhere?.note_count ?? 0 };
  return {
    course: rows.flatMap(({ at: when, sales, notes }) =>
      when === null ? [] : [{ at: when, sales, creditNotes: notes }],
    ),
    notInCourse: {
      count: counts.sales + counts.creditNotes,
      total: elsewhere?.total ?? "0",
      sales: elsewhere?.sales ?? "0",
      creditNotes: elsewhere?.notes ?? "0",
      counts,
    },
  };
}
