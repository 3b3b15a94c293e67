import { sql } from "kysely";

import type { Queries } from "../database.ts";
import type { MovementsOfItem, Period } from "./report.ts";
import type { Chain } from "./signed.ts";

/** Movements of the period's documents, by item, each reference once. */
export async function readMovements(
  db: Queries,
  { connection, business_id }: Chain,
  { from, to }: Period,
): Promise<MovementsOfItem[]> {
  const { rows } = await sql<{
    item_id: string;
    name: string | null;
    taken: string;
    given_back: string;
    returned_by_decision: string;
    unknown: string;
    not_made: string;
    against_balance: string;
  }>`
    with documents_of_period as (
      select connection, business_id, type, number from documents
      where connection = ${connection} and business_id = ${business_id} and document_date between ${from} and ${to}),
    moved as (
      select distinct on (m.reference_id) m.*
      from stock_movements as m join documents_of_period using (connection, business_id, type, number)
      order by m.reference_id, m.state = 'applied' desc),
    named as (
      select l.item_id, max(l.name) as name
      from document_lines as l join documents_of_period using (connection, business_id, type, number) group by l.item_id)
    select item_id, max(named.name) as name,
      coalesce(sum(quantity) filter (where state = 'applied' and action = 'DEDUCT'), 0) as taken,
      coalesce(sum(quantity) filter (where state = 'applied' and undoes is not null), 0) as given_back,
      coalesce(sum(quantity) filter (where state = 'applied' and action = 'ADD' and undoes is null), 0)
        as returned_by_decision,
      count(*) filter (where state = 'unknown') as unknown,
      count(*) filter (where state in ('refused', 'dropped')) as not_made,
      count(*) filter (where decision -> 'contradicts' is not null) as against_balance
    from moved left join named using (item_id) group by item_id order by item_id`.execute(db);
  return rows.map(({ item_id, name, taken, given_back, returned_by_decision, unknown, not_made, against_balance }) => ({
    itemId: item_id,
    name,
    taken,
    givenBack: given_back,
    returnedByDecision: returned_by_decision,
    unknown: Number(unknown),
    notMade: Number(not_made),
    againstBalance: Number(against_balance),
  }));
}
