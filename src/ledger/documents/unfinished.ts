import { sql } from "kysely";

import { type SaleContent, saleWorkflowId, type Stage } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { findSale, IS_OPEN, MOVEMENTS_MISSING, ofMovements, ofNotes, type SaleOfBusiness } from "./read-sales.ts";
import { isThrough } from "./through.ts";

/** A sale with work left, as its row has it: a run that is started by its number alone takes the rest from there. */
export interface UnfinishedSale extends SaleOfBusiness {
  stage: Stage;
  /** Its run was terminated, failed or timed out, and nothing was to carry it on. */
  isEnded: boolean;
  /** What was asked for; undefined where the row does not have it, and so no run can begin by it. */
  asked: { fingerprint: string; content: SaleContent } | undefined;
}

export interface UnfinishedRequest {
  connection?: string | undefined;
  businessId?: string | undefined;
  /** The last sale of the page before. */
  after?: SaleOfBusiness | undefined;
}

export interface UnfinishedPage {
  sales: UnfinishedSale[];
  /** Undefined: there are no more. */
  next: SaleOfBusiness | undefined;
}

/** Sales looked at in one statement, which has to answer in time however many there are. */
const PAGE = 5_000;

/** Whether something may be left to be done of the sale `d`, whose last event is `e`: never false where it is. */
const MAY_BE_LEFT = sql<boolean>`(
  ${IS_OPEN}
  or exists (select ${ofMovements(sql`m.state <> 'applied' or m.purpose = 'undone' or m.outcome ? 'report'`)})
  or ${MOVEMENTS_MISSING} > 0
  or e.content like '%"refund":{%'
  or ${ofNotes(sql`n.stage not in ('credited', 'cancelled')`)}
  -- Answered as Temporal was lost, and looked at by nobody.
  or d.answered_at > (select max(latest.answered_at) - interval '1 hour' from documents as latest))`;

/**
 * Some sales of which something is left to be done: what their rows and events say decides. Left out is a corrected sale
 * that has not begun: the sale that it corrects begins it, once that is credited.
 */
export async function unfinished(
  db: Queries,
  { connection, businessId, after }: UnfinishedRequest,
  page = PAGE,
): Promise<UnfinishedPage> {
  const clauses = [
    sql`d.type = 'sale' and not d.failed`,
    ...(connection === undefined ? [] : [sql`d.connection = ${connection}`]),
    ...(businessId === undefined ? [] : [sql`d.business_id = ${businessId}`]),
    ...(after
      ? [
          sql`(d.connection, d.business_id, d.type, d.number)
            > (${after.connection}, ${after.businessId}, 'sale', ${after.number})`,
        ]
      : []),
  ];
  const { rows } = await sql<SaleOfBusiness & { mayBeLeft: boolean; last: boolean }>`
    with page as (
      select d.* from documents as d where ${sql.join(clauses, sql` and `)}
      order by d.connection, d.business_id, d.type, d.number limit ${page})
    select * from (
      select d.connection, d.business_id as "businessId", d.number, ${MAY_BE_LEFT} as "mayBeLeft",
        row_number() over (order by d.connection, d.business_id, d.number) = ${page} as last
      from page as d
      join events as e on (e.connection, e.business_id, e.number) = (d.connection, d.business_id, d.event_number)
    ) as looked where "mayBeLeft" or last
    order by connection, "businessId", number`.execute(db);
  const sales: UnfinishedSale[] = [];
  for (const { mayBeLeft, last: _last, ...sale } of rows) {
    const kept = mayBeLeft ? await findSale(db, sale, sale.number) : undefined;
    if (!kept || isThrough(kept) || (kept.record.replaces !== undefined && kept.writer.workflowId !== idOf(sale)))
      continue;
    const { stage, closed, fingerprint, content } = kept.record;
    const asked = fingerprint !== undefined && content ? { fingerprint, content } : undefined;
    sales.push({ ...sale, stage, isEnded: closed !== undefined, asked });
  }
  const end = rows.at(-1);
  return { sales, next: end?.last === true ? end : undefined };
}

function idOf({ connection, businessId, number: traderInvoiceNumber }: SaleOfBusiness): string {
  return saleWorkflowId({ connection, businessId, traderInvoiceNumber });
}
