import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import type { QuotaCounts, QuotaWindow, SettleQuotaRequest, SpendAnswer, SpendRequest } from "./counts.ts";

/** No transactions: each is one statement that stands for itself, and a caller cannot wait long. */
export function createQuotaCounts(database: Database): QuotaCounts {
  return {
    spend: (request, withinMs) => database.query((db) => spend(db, request), withinMs),
    settle: (request, withinMs) => database.query((db) => settle(db, request), withinMs),
  };
}

/** Windows for which strangers are expected after some were seen. */
const STRANGERS_FOR = 10;
/**
 * A window that follows one that has ended leaves out a number. So only a window that an answer has opened (`next`) has
 * the number after its predecessor's: what was under way then is under way in it.
 */
const NUMBERS_AFTER_END = 2;
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
  // Until headers have shown a limit, the configured one counts, also after it was changed.
  const limit = sql`case when w.told then w.request_limit else ${believed.limit}::int end`;
  const { rows } = await sql<QuotaRow>`
    insert into quota_windows as w
      (application, number, ends_at, length_ms, told, request_limit, reserved, spent, seen, in_flight, silent, strangers_for)
    values (
      ${application}, 1, statement_timestamp() + make_interval(secs => ${endsInMs}::float8 / 1000),
      ${believed.lengthMs}, ${believed.fromHeaders}, ${believed.limit}, 1, 1, 0, 1, 0, 0)
    on conflict (application) do update set
      number = w.number + case when ${over} then ${NUMBERS_AFTER_END}::int else 0 end,
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

/**
 * Corrects the count by the headers of an answer. The provider's count is a least of what is gone, since requests under
 * way may not be in it; with none under way it is the truth, also where that is less than was counted here. A request
 * that was answered without headers stays spent until a later one says otherwise. An answer that opens a window takes
 * over what is under way, all of it as its own: else those answers would look like a stranger's.
 */
export async function settle(db: Queries, request: SettleQuotaRequest): Promise<QuotaWindow | undefined> {
  const { application, number, sequence, counted, unsent = false, edge } = request;
  const used = counted?.used ?? null;
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
      request_limit = coalesce(${counted?.limit ?? null}::int, w.request_limit),
      in_flight = greatest(w.in_flight - 1, 0),
      reserved = case when ${isNext} then greatest(coalesce(${usedSql}, 0), w.in_flight) else w.reserved end,
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
  const [row] = rows.length > 0 ? rows : await settleInNext(db, request);
  return row && windowOf(row);
}

/**
 * A request that was under way when an answer opened the next window: there it is spent already. Its answer may speak of
 * either window, so it counts as one without headers.
 */
async function settleInNext(db: Queries, request: SettleQuotaRequest): Promise<readonly QuotaRow[]> {
  const { application, number, unsent = false } = request;
  const { rows } = await sql<QuotaRow>`
    update quota_windows set
      in_flight = greatest(in_flight - 1, 0),
      spent = case when ${unsent}::boolean then greatest(spent - 1, 0) else spent end,
      silent = case when ${unsent}::boolean then silent else reserved end
    where application = ${application} and number = ${number}::bigint + 1
    returning ${COLUMNS}`.execute(db);
  return rows;
}

/** The columns as they are read; instants become times from now by the database's clock. */
export const COLUMNS = sql`
  number, reserved, spent, seen, in_flight, request_limit, length_ms, told, strangers_for,
  extract(epoch from ends_at - statement_timestamp()) * 1000 as ends_in_ms`;

export interface QuotaRow {
  /** `bigint` and `numeric` come as text. */
  number: string;
  ends_in_ms: string;
  reserved: number;
  spent: number;
  seen: number;
  in_flight: number;
  request_limit: number;
  length_ms: number;
  told: boolean;
  strangers_for: number;
}

export function windowOf(row: QuotaRow): QuotaWindow {
  return {
    number: Number(row.number),
    endsInMs: Number(row.ends_in_ms),
    lengthMs: row.length_ms,
    fromHeaders: row.told,
    limit: row.request_limit,
    spent: row.spent,
    inFlight: row.in_flight,
    strangers: row.strangers_for > 0 || row.seen > row.reserved,
  };
}
