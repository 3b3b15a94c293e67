import { sql } from "kysely";

import type { Attention } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { BusinessReport, OpenDocument } from "./report.ts";
import type { Chain } from "./signed.ts";

const MOST_LISTED = 1_000;

/** What is not through, the one that has waited longest first. */
export async function readOpen(
  db: Queries,
  { connection, business_id }: Chain,
): Promise<Pick<BusinessReport, "open" | "moreOpen" | "atRisk">> {
  const { rows } = await sql<{
    type: "sale" | "credit_note";
    number: string;
    stage: string;
    document_id: string | null;
    attentions: Attention[];
    started_at: Date;
    since: Date;
    at_risk: string;
    of_all: string;
    all_at_risk: string;
  }>`
    with open as (
      select d.*,
        coalesce(d.needs_person_since, d.started_at) as since,
        case when d.status = 'completed'
          then coalesce((select sum(m.quantity * m.unit_price) from stock_movements as m
            where (m.connection, m.business_id, m.type, m.number) = (d.connection, d.business_id, d.type, d.number)
              and m.state in ('unknown', 'refused')), 0)
          else abs(coalesce(d.total, d.asked_total, reversed.total, 0)) end as at_risk
      from documents as d
      left join lateral (
        select total from documents as s
        where s.connection = d.connection and s.business_id = d.business_id and d.type = 'credit_note'
          and s.document_id = d.original_document_id and s.type = 'sale' limit 1) as reversed on true
      where d.connection = ${connection} and d.business_id = ${business_id} and not d.failed
        and (d.stage not in ('completed', 'crediting', 'credited', 'cancelled') or d.needs_person_since is not null))
    select type, number, stage, document_id, attentions, started_at, since, at_risk,
      count(*) over () as of_all, sum(at_risk) over () as all_at_risk
    from open order by since, type, number limit ${MOST_LISTED}`.execute(db);
  const open = rows.map((row): OpenDocument => ({
    type: row.type,
    number: row.number,
    stage: row.stage,
    documentId: row.document_id,
    attentions: row.attentions.map(({ code, subject, message, sinceMs }) => ({
      code,
      ...(subject !== undefined && { subject }),
      message,
      sinceMs,
    })),
    startedAtMs: row.started_at.getTime(),
    sinceMs: row.since.getTime(),
    atRisk: row.at_risk,
  }));
  const [first] = rows;
  return { open, moreOpen: Number(first?.of_all ?? 0) - open.length, atRisk: first?.all_at_risk ?? "0" };
}
