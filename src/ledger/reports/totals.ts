import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import type { Amounts, BusinessReport, Days, Period, SignedFigures, TaxOfRate } from "./report.ts";
import { type Chain, linesOf, NOTES, SALES, signedDocuments } from "./signed.ts";

/** Sums of sales, of credit notes, and of both, in one reading. */
function sums(table: string) {
  const of = (column: string, filter: ReturnType<typeof sql>) =>
    sql`coalesce(sum(${sql.ref(`${table}.${column}`)}) filter (where ${filter}), 0)`;
  const all = sql`true`;
  return sql`
    ${of("total", SALES)} as sales_total, ${of("taxable_amount", SALES)} as sales_taxable,
    ${of("tax_amount", SALES)} as sales_tax,
    ${of("total", NOTES)} as notes_total, ${of("taxable_amount", NOTES)} as notes_taxable,
    ${of("tax_amount", NOTES)} as notes_tax,
    ${of("total", all)} as net_total, ${of("taxable_amount", all)} as net_taxable, ${of("tax_amount", all)} as net_tax`;
}

interface SumsRow {
  sales_total: string;
  sales_taxable: string;
  sales_tax: string;
  notes_total: string;
  notes_taxable: string;
  notes_tax: string;
  net_total: string;
  net_taxable: string;
  net_tax: string;
}

export async function readTotals(
  db: Queries,
  chain: Chain,
  days: Days,
  which: RawBuilder<boolean>,
): Promise<Pick<SignedFigures, "sales" | "creditNotes" | "net">> {
  const { rows } = await sql<SumsRow & { sales: string; notes: string }>`
    select count(*) filter (where ${SALES}) as sales, count(*) filter (where ${NOTES}) as notes, ${sums("signed")}
    from (${signedDocuments(chain, days, which)}) as signed`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("a sum has one row");
  const { sales, creditNotes, net } = byType(row);
  const count = (number: string): Pick<Amounts, "count"> => ({ count: Number(number) });
  return {
    sales: { ...count(row.sales), ...sales },
    creditNotes: { ...count(row.notes), ...creditNotes },
    net: { count: Number(row.sales) + Number(row.notes), ...net },
  };
}

export async function readTaxes(
  db: Queries,
  chain: Chain,
  days: Days,
  which: RawBuilder<boolean>,
): Promise<TaxOfRate[]> {
  const { rows } = await sql<SumsRow & { tax_rate: string; tax_type_code: string | null }>`
    with signed as (${signedDocuments(chain, days, which)}), lines as (
      select type, l.* from signed cross join lateral ${linesOf("document")} as l)
    select tax_rate, tax_type_code, ${sums("lines")} from lines
    group by tax_rate, tax_type_code order by tax_rate desc, tax_type_code`.execute(db);
  return rows.map((row) => ({ taxRate: row.tax_rate, taxTypeCode: row.tax_type_code, ...byType(row) }));
}

function byType(row: SumsRow) {
  return {
    sales: { total: row.sales_total, taxableAmount: row.sales_taxable, taxAmount: row.sales_tax },
    creditNotes: { total: row.notes_total, taxableAmount: row.notes_taxable, taxAmount: row.notes_tax },
    net: { total: row.net_total, taxableAmount: row.net_taxable, taxAmount: row.net_tax },
  };
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
