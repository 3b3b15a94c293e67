import { sql } from "kysely";

import type { Database, Queries } from "./database.ts";
import { LedgerError } from "./errors.ts";

export interface SpendRequest {
  readonly application: string;
  /** Requests of the window that are kept for others. */
  readonly reserve: number;
  /** What is believed of the window and its limit: counts where the database knows of none yet. */
  readonly believed: BelievedWindow;
}

export interface BelievedWindow {
  readonly limit: number;
  readonly endsInMs: number;
  readonly lengthMs: number;
  /** Whether they come from the provider's headers. */
  readonly fromHeaders: boolean;
}

export interface QuotaWindow {
  /** Grows with each window of the application. */
  readonly number: number;
  readonly endsInMs: number;
  readonly lengthMs: number;
  readonly fromHeaders: boolean;
  readonly limit: number;
  /** Requests that are gone: of all processes, and of other programs as far as headers show. */
  readonly spent: number;
  /** Requests taken and not yet settled. */
  readonly inFlight: number;
  /** Strangers are, or were a few windows ago, on the application. */
  readonly strangers: boolean;
}

export type SpendAnswer =
  | { readonly granted: true; readonly window: QuotaWindow; readonly sequence: number }
  | { readonly granted: false; readonly window: QuotaWindow };

export interface SettleQuotaRequest {
  readonly application: string;
  /** Of the grant. */
  readonly number: number;
  readonly sequence: number;
  /**
   * Requests of the window that are gone as the provider counts, and its limit; absent where the answer has neither.
   */
  readonly counted?: { readonly used: number; readonly limit: number } | undefined;
  /** Not a byte of it has left: it is given back. */
  readonly unsent?: boolean | undefined;
  /** What the answer says of the window's end, where that is news. */
  readonly edge?: SettledEdge | undefined;
}

export interface SettledEdge {
  /**
   * `earlier`: the end is no later than this. `is`: the end is this, whatever was thought. `next`: the window is
   * another one.
   */
  readonly says: "earlier" | "is" | "next";
  readonly endsInMs: number;
  readonly lengthMs: number;
}

export type QuotaCounts = ReturnType<typeof createQuotaCounts>;

/**
 * What all processes together have spent of the request budget of each application, one row each: the provider's
 * current window. Instants are kept by the database's clock and returned as times from now, so that the clocks of the
 * hosts do not matter. No transactions: each is one statement that stands for itself, and a caller cannot wait long.
 */
export function createQuotaCounts(database: Database) {
  return {
    /**
     * Takes one request of the current window; a window whose end has passed makes room for the next.
     * @throws LedgerUnavailableError after `withinMs`; the request may have been counted then
     */
    spend: (request: SpendRequest, withinMs: number) => database.query((db) => spend(db, request), withinMs),
    /**
     * What became of a request that was taken. Nothing is changed where its window has ended and made room for another;
     * undefined then.
     * @throws LedgerUnavailableError after `withinMs`
     */
    settle: (request: SettleQuotaRequest, withinMs: number) => database.query((db) => settle(db, request), withinMs),
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
async function spend(db: Queries, request: SpendRequest): Promise<SpendAnswer> {
  const { application, reserve, believed } = request;
  const endsInMs = Math.max(0, believed.endsInMs);
  // The clock of the database may have been ahead, and be right now: a window that far away has ended too.
  const over = sql`(w.ends_at <= statement_timestamp()
    or w.ends_at > statement_timestamp() + make_interval(secs => 2 * w.length_ms / 1000.0))`;
  const ended = sql`floor(extract(epoch from statement_timestamp() - w.ends_at) * 1000 / w.length_ms) + 1`;
  // Until headers have shown a limit, the configured one counts, also after it was changed.
  const limit = sql`case when w.told then w.request_limit else ${believed.limit}::int end`;
  const { rows } = await sql<QuotaWindow & { sequence: number }>`
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
    returning ${WINDOW}, reserved as sequence`.execute(db);
  const [granted] = rows;
  if (granted) {
    const { sequence, ...window } = granted;
    return { granted: true, window, sequence };
  }
  const refused = await sql<QuotaWindow>`
    select ${WINDOW} from quota_windows where application = ${application}`.execute(db);
  const [current] = refused.rows;
  if (!current) throw new LedgerError(`The window of ${application} vanished: rows are never deleted.`);
  return { granted: false, window: current };
}

/**
 * Corrects the count by the headers of an answer. The provider's count is a least of what is gone, since requests under
 * way may not be in it; with none under way it is the truth, also where that is less than was counted here. A request
 * that was answered without headers stays spent until a later one says otherwise. An answer that opens a window takes
 * over what is under way, all of it as its own: else those answers would look like a stranger's.
 */
async function settle(db: Queries, request: SettleQuotaRequest): Promise<QuotaWindow | undefined> {
  const { application, number, sequence, counted, unsent = false, edge } = request;
  const used = counted?.used ?? null;
  const says = edge?.says ?? null;
  const isNext = sql`(${says}::text = 'next')`;
  const end = sql`(statement_timestamp() + make_interval(secs => ${edge?.endsInMs ?? 0}::float8 / 1000))`;
  const usedSql = sql`${used}::int`;
  const { rows } = await sql<QuotaWindow>`
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
    returning ${WINDOW}`.execute(db);
  return rows[0] ?? (await settleInNext(db, request));
}

/**
 * A request that was under way when an answer opened the next window: there it is spent already. Its answer may speak of
 * either window, so it counts as one without headers.
 */
async function settleInNext(db: Queries, request: SettleQuotaRequest): Promise<QuotaWindow | undefined> {
  const { application, number, unsent = false } = request;
  const { rows } = await sql<QuotaWindow>`
    update quota_windows set
      in_flight = greatest(in_flight - 1, 0),
      spent = case when ${unsent}::boolean then greatest(spent - 1, 0) else spent end,
      silent = case when ${unsent}::boolean then silent else reserved end
    where application = ${application} and number = ${number}::bigint + 1
    returning ${WINDOW}`.execute(db);
  return rows[0];
}

/** The window as it is read; instants become times from now by the database's clock. */
const WINDOW = sql`
  number::float8, extract(epoch from ends_at - statement_timestamp())::float8 * 1000 as "endsInMs",
  length_ms as "lengthMs", told as "fromHeaders", request_limit as "limit", spent, in_flight as "inFlight",
  strangers_for > 0 or seen > reserved as strangers`;
