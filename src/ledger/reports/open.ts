import { sql } from "kysely";

import type { Attention } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { IS_KNOWN_OVER, IS_REFUSED } from "../stock/movement.ts";
import type { BusinessReport, EndedDocument, OpenDocument } from "./report.ts";
import type { Chain } from "./signed.ts";

const MOST_LISTED = 1_000;

/**
 * What is not through, the one that has waited longest first. What no run carries on is listed apart: nothing changes
 * it by itself.
 */
export async function readOpen(
  db: Queries,
  { connection, business_id }: Chain,
): Promise<Pick<BusinessReport, "open" | "moreOpen" | "atRisk" | "ended">> {
  const { rows } = await sql<{
    type: "sale" | "credit_note";
    number: string;
    stage: string;
    document_id: string | null;
    attentions: Attention[];
    started_at: Date;
    since: Date;
    at_risk: string;
    closed: string | null;
    closed_at: Date | null;
    of_all: string;
    all_at_risk: string | null;
  }>`
    with open as (
      select d.*,
        coalesce(d.needs_person_since, d.started_at) as since,
        case when d.status = 'completed'
          then coalesce((select sum(m.quantity * m.unit_price) from movements as m
            where (m.connection, m.business_id, m.type, m.number) = (d.connection, d.business_id, d.type, d.number)
              and (m.state = 'held' and ${IS_KNOWN_OVER} or ${IS_REFUSED})), 0)
          else abs(coalesce(d.total, d.asked_total, reversed.total, 0)) end as at_risk
      from documents as d
      left join lateral (
        select total from documents as s
        where s.connection = d.connection and s.business_id = d.business_id and d.type = 'credit_note'
          and s.document_id = d.original_document_id and s.type = 'sale' limit 1) as reversed on true
      where d.connection = ${connection} and d.business_id = ${business_id} and not d.failed
        and (d.stage not in ('completed', 'crediting', 'credited', 'cancelled') or d.needs_person_since is not null)),
    ranked as (
      select *, row_number() over of_kind as rank,
        count(*) over all_of_kind as of_all, sum(at_risk) over all_of_kind as all_at_risk
      from open window all_of_kind as (partition by closed is not null),
        of_kind as (all_of_kind order by since, type, number))
    select type, number, stage, document_id, attentions, started_at, since, at_risk, closed, closed_at, of_all,
      all_at_risk
    from ranked where rank <= ${MOST_LISTED} order by since, type, number`.execute(db);
  const going = rows.filter(({ closed }) => closed === null);
  const ended = rows.flatMap(({ closed, closed_at: at, ...row }): EndedDocument[] => {
    if (closed === null || at === null) return [];
    const { type, number, stage, document_id: documentId, at_risk: amount } = row;
    return [{ type, number, stage, documentId, status: closed, endedAtMs: at.getTime(), amount }];
  });
  const allEnded = rows.find(({ closed }) => closed !== null);
  const open = going.map((row): OpenDocument => ({
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
  const [first] = going;
  return {
    open,
    moreOpen: Number(first?.of_all ?? 0) - open.length,
    atRisk: first?.all_at_risk ?? "0",
    ended: {
      documents: ended,
      more: Number(allEnded?.of_all ?? 0) - ended.length,
      amount: allEnded?.all_at_risk ?? "0",
    },
  };
}
