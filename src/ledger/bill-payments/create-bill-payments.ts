import { type RawBuilder, sql } from "kysely";

import type {
  BillPayment,
  BillPaymentsGround,
  BillPaymentsHeld,
  BillPaymentStatus,
  RoundComparison,
} from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { createSynced, keptEntry } from "../synced/create-synced.ts";
import { seenEvent } from "../synced/events.ts";
import { keepPage } from "../synced/keep-page.ts";
import { listPeriod } from "../synced/list-period.ts";
import { countBy, end, lock, markMissing, markSome } from "../synced/rows.ts";
import { verifyCollection } from "../synced/verify.ts";
import type { BillPayments, FullRound } from "./bill-payments.ts";
import { BILL_PAYMENTS } from "./collection.ts";
import { BILL_PAYMENT_LIST } from "./list.ts";

/** Looking at every payment of a connection takes longer than one operation where there are very many. */
const WHOLE_WITHIN_MS = 20_000;

/**
 * Each operation is one transaction, which may run again after a broken connection; `complete` is several, each of
 * which may.
 */
export function createBillPayments(database: Database): BillPayments {
  const { rows, history, ...synced } = createSynced(database, BILL_PAYMENTS);
  const whole = <Answer>(work: (db: Queries) => Promise<Answer>) => database.transact(work, WHOLE_WITHIN_MS);
  return {
    ...synced,
    history: (connection, id) => history({ connection }, id),
    async page(connection, request) {
      const page = await rows({ connection }, request);
      return page.map((row) => ({
        ...keptEntry<BillPayment>(row),
        syncStatus: row["sync_status"] as BillPaymentStatus | null,
      }));
    },
    async keepPage(request) {
      const { known: _known, ...kept } = await database.transact((db) => keepPage(db, BILL_PAYMENTS, request));
      return kept;
    },
    ground: (connection) => database.transact((db) => ground(db, connection)),
    compareRound: (connection, round, how) => whole((db) => compareRound(db, connection, round, how)),
    async complete(sync, { settled, knownUntilMs, leftOut, round }, writer) {
      if (settled && round !== undefined) {
        while (await whole((db) => markMissing(db, BILL_PAYMENTS, sync, notSeenIn(round), writer)));
        const unlisted = {
          which: withoutStatusIn(round),
          set: sql`sync_status = null`,
          event: (id: string) => seenEvent(BILL_PAYMENTS, { id, changes: [STATUS_GONE] }, writer),
          writer,
        };
        while (await whole((db) => markSome(db, BILL_PAYMENTS, sync, unlisted)));
      }
      // A recent one that has not settled may have missed a change below what it read, where a payment went between two
      // pages: the ground of before stays, so that the next one reads over it again. A full one has read everything,
      // and says itself what did not agree.
      const knownUntil =
        knownUntilMs !== undefined && (settled || sync.kind === "full") ? new Date(knownUntilMs) : null;
      const how = sql`, settled = ${settled}, known_until = ${knownUntil}, left_out = ${leftOut ?? null}`;
      await database.transact((db) => end(db, BILL_PAYMENTS, sync.syncId, how));
    },
    list: (request, read) => listPeriod(database, BILL_PAYMENT_LIST, request, read),
    summary: (connection) => whole((db) => summary(db, connection)),
    async verify({ connection, businessId }) {
      const chain = { connection, business_id: businessId };
      const { rows: billPayments, ...found } = await verifyCollection(database, BILL_PAYMENTS, chain);
      return { billPayments, ...found };
    },
  };
}

const STATUS_GONE = { what: "status", before: "of an earlier list", after: null } as const;

async function ground(db: Queries, connection: string): Promise<BillPaymentsGround> {
  const completed = sql`bill_payment_syncs where connection = ${connection} and completed_at is not null`;
  const { rows } = await sql<{ known_until: Date | null; left_out: number[] | null }>`
    select max(known_until) as known_until,
      (select left_out from ${completed} and settled order by completed_at desc limit 1) as left_out
    from ${completed}`.execute(db);
  const { known_until: knownUntil = null, left_out: leftOut = null } = rows[0] ?? {};
  return {
    ...(knownUntil !== null && { knownUntilMs: knownUntil.getTime() }),
    ...(leftOut !== null && { leftOut }),
  };
}

function notSeenIn({ name, startedAtMs }: FullRound): RawBuilder<boolean> {
  return sql`observed_at < ${new Date(startedAtMs)}
    and listed_by is distinct from ${name} and status_listed_by is distinct from ${name}`;
}

/** In no list of a status, in the round before neither. */
function withoutStatusIn({ name, startedAtMs }: FullRound): RawBuilder<boolean> {
  return sql`sync_status is not null and status_observed_at < ${new Date(startedAtMs)} and listed_by = ${name}
    and status_listed_by is distinct from ${name} and unlisted_by is not null`;
}

/** Those that no list of a status had are remembered, so that the next round knows which of them were so before. */
async function compareRound(
  db: Queries,
  connection: string,
  { name, startedAtMs }: FullRound,
  { reachMs, syncStartedAtMs, withStatuses }: Parameters<BillPayments["compareRound"]>[2],
): Promise<RoundComparison> {
  await lock(db, BILL_PAYMENTS, { connection });
  const counts = {
    sinceRound: await seenSince(db, connection, startedAtMs),
    sinceStart: await seenSince(db, connection, syncStartedAtMs),
  };
  if (!withStatuses) return { missedByList: 0, missedByStatuses: 0, ...counts };
  const reach = reachMs === undefined ? null : new Date(reachMs);
  const missed = await sql<{ count: string }>`
    select count(*) from bill_payments
    where connection = ${connection} and status_listed_by = ${name} and listed_by is distinct from ${name}
      and (service_created_at is null or ${reach}::timestamptz is null or service_created_at <= ${reach})`.execute(db);
  const unlisted = await sql<{ count: string }>`
    with found as (
      update bill_payments set unlisted_by = ${name}
      where connection = ${connection} and listed_by = ${name} and status_listed_by is distinct from ${name}
        and unlisted_by is null
      returning 1)
    select count(*) from found`.execute(db);
  return {
    missedByList: Number(missed.rows[0]?.count),
    missedByStatuses: Number(unlisted.rows[0]?.count),
    ...counts,
  };
}

/** A status that no list has shown since is an earlier one's. */
function seenSince(db: Queries, connection: string, sinceMs: number) {
  const since = new Date(sinceMs);
  const status = sql`case when status_observed_at >= ${since} then sync_status end`;
  return countBy(db, BILL_PAYMENTS, { connection }, sql`observed_at >= ${since}`, status);
}

async function summary(db: Queries, connection: string): Promise<BillPaymentsHeld> {
  const count = (which: RawBuilder<unknown>) => countBy(db, BILL_PAYMENTS, { connection }, which, sql`sync_status`);
  const there = await count(sql`missing_since is null`);
  const gone = await count(sql`missing_since is not null`);
  return { ...there, missing: gone.total };
}
