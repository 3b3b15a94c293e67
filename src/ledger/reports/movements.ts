import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { IS_KNOWN_OVER, IS_REFUSED } from "../stock/movement.ts";
import type { MovementsOfItem, Period } from "./report.ts";
import { type Chain, linesOf } from "./signed.ts";

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
export async function readMovements(
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
      where m.state <> 'buried' and coalesce(${RETURNED_ON}, d.document_date) between ${from} and ${to}),
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
