import { type RawBuilder, sql } from "kysely";

import { PIN } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Amounts, Days } from "./report.ts";

export interface Chain {
  connection: string;
  business_id: string;
}

export const SALES = sql<boolean>`type = 'sale'`;
export const NOTES = sql<boolean>`type = 'credit_note'`;
export const ALL = sql<boolean>`true`;

/** Sums of documents, or of lines, as texts: JSON numbers would lose what the database has exactly. */
export function amountsOf(which: RawBuilder<boolean>): RawBuilder<Amounts> {
  const sum = (column: string) => sql`coalesce(sum(${sql.ref(column)}) filter (where ${which}), 0)::text`;
  return sql<Amounts>`json_build_object('count', count(*) filter (where ${which}), 'total', ${sum("total")},
    'taxableAmount', ${sum("taxable_amount")}, 'taxAmount', ${sum("tax_amount")})`;
}

/** The businesses that have documents. */
export async function chainsOf(
  db: Queries,
  { connection, businessId }: { connection?: string | undefined; businessId?: string | undefined },
): Promise<Chain[]> {
  let query = db.selectFrom("documents").select(["connection", "business_id"]).distinct();
  if (connection !== undefined) query = query.where("connection", "=", connection);
  if (businessId !== undefined) query = query.where("business_id", "=", businessId);
  return await query.orderBy("connection").orderBy("business_id").execute();
}

const PIN_OF_BUYER = sql<string | null>`nullif(customer_pin, '')`;

export const HAS_PIN = sql<boolean>`(${PIN_OF_BUYER} is not null)`;

/** Null where the document has no PIN. */
export const PIN_MALFORMED = sql<boolean | null>`${PIN_OF_BUYER} !~ ${PIN.source}`;

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
export function signedDocuments(chain: Chain, days: Days, which = sql<boolean>`true`): RawBuilder<unknown> {
  return sql`select * from (${issuedDocuments(chain, days)}) as issued where status = 'completed' and ${which}`;
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
