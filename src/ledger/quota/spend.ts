import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import type { SpendAnswer, SpendRequest } from "./counts.ts";
import { COLUMNS, type QuotaRow, windowOf } from "./row.ts";

/** Windows for which strangers are expected after some were seen. */
const STRANGERS_FOR = 10;
/** By how much a window's end may have moved between two windows, since clocks drift: answers correct it downwards. */
const DRIFT_MS = 20;

/**
 * One statement, so that no two processes take the same request. Alone on the key all of the window may be under way at
 * once; with strangers, of whom only answers tell, at most half of what is left.
 */
export async function spend(db: Queries, request: SpendRequest): Promise<SpendAnswer> {
  const { application, reserve, believed } = request;
  const endsInMs = Math.max(0, believed.endsInMs);
  const over = sql`w.ends_at <= statement_timestamp()`;
  const ended = sql`floor(extract(epoch from statement_timestamp() - w.ends_at) * 1000 / w.length_ms) + 1`;
  // Until headers have told a limit, the configured one counts, also after it was changed.
  const limit = sql`case when w.told then w.request_limit else ${believed.limit}::int end`;
  const { rows } = await sql<QuotaRow>`
    insert into quota_windows as w
      (application, number, ends_at, length_ms, told, request_limit, reserved, spent, seen, in_flight, silent, strangers_for)
    values (
      ${application}, 1, statement_timestamp() + make_interval(secs => ${endsInMs}::float8 / 1000),
      ${believed.lengthMs}, ${believed.told}, ${believed.limit}, 1, 1, 0, 1, 0, 0)
    on conflict (application) do update set
      number = w.number + case when ${over} then 1 else 0 end,
      ends_at = case when ${over}
        then w.ends_at + make_interval(secs => ((${ended}) * w.length_ms + ${DRIFT_MS}) / 1000.0)
        else w.ends_at end,
      request_limit = ${limit},
      strangers_for = case
        when not ${over} then w.strangers_for
        when w.seen > w.reserved then ${STRANGERS_FOR}
        else greatest(w.strangers_for - 1, 0) end,
      reserved = case when ${over} then 1 else w.reserved + 1 end,
      spent = case when ${over} then 1 else w.spent + 1 end,
      in_flight = case when ${over} then 1 else w.in_flight + 1 end,
      seen = case when ${over} then 0 else w.seen end,
      silent = case when ${over} then 0 else w.silent end
    where ${over} or (
      w.spent < ${limit} - ${reserve}::int
      and ((w.strangers_for = 0 and w.seen <= w.reserved)
        or w.in_flight < greatest(1, (${limit} - w.spent) / 2)))
    returning ${COLUMNS}`.execute(db);
  const [row] = rows;
  if (row) return { granted: true, window: windowOf(row), sequence: row.reserved };
  const refused = await sql<QuotaRow>`
    select ${COLUMNS} from quota_windows where application = ${application}`.execute(db);
  const [current] = refused.rows;
  if (!current) throw new LedgerError(`The window of ${application} vanished: rows are never deleted.`);
  return { granted: false, window: windowOf(current) };
}
