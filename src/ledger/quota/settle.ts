import { sql } from "kysely";

import type { Queries } from "../database.ts";
import type { QuotaWindow, SettleQuotaRequest } from "./counts.ts";
import { COLUMNS, type QuotaRow, windowOf } from "./row.ts";

/**
 * Corrects the count by what an answer told. The provider's count is a least of what is gone, since requests under way
 * may not be in it; with none under way it is the truth, also where that is less than was counted here. A request that
 * was answered without headers stays spent until a later one says otherwise.
 */
export async function settle(db: Queries, request: SettleQuotaRequest): Promise<QuotaWindow | undefined> {
  const { application, number, sequence, told, unsent = false, edge } = request;
  const used = told?.used ?? null;
  const says = edge?.says ?? null;
  const isNext = sql`(${says}::text = 'next')`;
  const end = sql`(statement_timestamp() + make_interval(secs => ${edge?.endsInMs ?? 0}::float8 / 1000))`;
  const usedSql = sql`${used}::int`;
  const { rows } = await sql<QuotaRow>`
    update quota_windows as w set
      number = w.number + case when ${isNext} then 1 else 0 end,
      ends_at = case ${says}::text
        when 'earlier' then least(w.ends_at, ${end})
        when 'is' then ${end}
        when 'next' then ${end}
        else w.ends_at end,
      length_ms = coalesce(${edge?.lengthMs ?? null}::int, w.length_ms),
      told = w.told or ${usedSql} is not null,
      request_limit = coalesce(${told?.limit ?? null}::int, w.request_limit),
      in_flight = greatest(w.in_flight - 1, 0),
      reserved = case when ${isNext} then coalesce(${usedSql}, 0) else w.reserved end,
      seen = case when ${isNext} then coalesce(${usedSql}, 0) else greatest(w.seen, coalesce(${usedSql}, 0)) end,
      silent = case
        when ${isNext} then 0
        when ${usedSql} is null and not ${unsent}::boolean then greatest(w.silent, ${sequence}::int)
        else w.silent end,
      spent = case
        when ${isNext} then coalesce(${usedSql}, 0) + greatest(w.in_flight - 1, 0)
        when ${unsent}::boolean then greatest(w.spent - 1, 0)
        when ${usedSql} is null then w.spent
        when w.in_flight <= 1 and ${sequence}::int > w.silent then greatest(w.seen, ${usedSql})
        else greatest(w.spent, ${usedSql}) end
    where application = ${application} and number = ${number}::bigint
    returning ${COLUMNS}`.execute(db);
  return rows[0] && windowOf(rows[0]);
}
