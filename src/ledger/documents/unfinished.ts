import { sql } from "kysely";

import { NO_BUSINESS, type SaleContent, saleWorkflowId, type Stage } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { findSale, IS_OPEN, type SaleOfBusiness } from "./read-sales.ts";
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

const PAGE = 200;

/**
 * Some sales of which something is left to be done. The statement finds all of which that may be so; what their rows
 * and events say decides. Left out is a corrected sale that has not begun: the sale that it corrects begins it, once that
 * is credited.
 */
export async function unfinished(
  db: Queries,
  { connection, businessId, after }: UnfinishedRequest,
): Promise<UnfinishedPage> {
  const clauses = [
    sql`d.type = 'sale' and not d.failed`,
    ...(connection === undefined ? [] : [sql`d.connection = ${connection}`]),
    ...(businessId === undefined ? [] : [sql`d.business_id = ${businessId}`]),
    ...(after
      ? [sql`(d.connection, d.business_id, d.number) > (${after.connection}, ${after.businessId}, ${after.number})`]
      : []),
  ];
  const movements = (which: string) => sql`from movements as m
    where (m.connection, m.business_id, m.type, m.number) = (d.connection, d.business_id, d.type, d.number)
      and m.${sql.raw(which)}`;
  const { rows } = await sql<SaleOfBusiness>`
    select d.connection, d.business_id as "businessId", d.number from documents as d
    join events as e on (e.connection, e.business_id, e.number) = (d.connection, d.business_id, d.event_number)
    where ${sql.join(clauses, sql` and `)} and (${IS_OPEN}
      or exists (select ${movements("state = 'held'")})
      or (select count(*) ${movements("purpose = 'sold'")}) < coalesce((e.content::json ->> 'movementsPlanned')::int, 0)
      or e.content::json -> 'refund' is not null)
    order by d.connection, d.business_id, d.number limit ${PAGE}`.execute(db);
  const sales: UnfinishedSale[] = [];
  for (const sale of rows) {
    const kept = await findSale(db, sale, sale.number);
    if (!kept || isThrough(kept) || (kept.record.replaces !== undefined && kept.writer.workflowId !== idOf(sale)))
      continue;
    const { stage, closed, fingerprint, content } = kept.record;
    const asked = fingerprint !== undefined && content ? { fingerprint, content } : undefined;
    sales.push({ ...sale, stage, isEnded: closed !== undefined, asked });
  }
  return { sales, next: rows.length < PAGE ? undefined : rows.at(-1) };
}

function idOf({ connection, businessId, number: traderInvoiceNumber }: SaleOfBusiness): string {
  return saleWorkflowId({
    connection,
    businessId: businessId === NO_BUSINESS ? undefined : businessId,
    traderInvoiceNumber,
  });
}
