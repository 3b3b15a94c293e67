import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { accountingChain } from "../events/accounting-chain.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Writer } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import type { BillPaymentSync, FullRound, RoundFindings, SeenCounts } from "./bill-payments.ts";
import { missingEvent, seenEvent } from "./events.ts";
import { lockConnection, writerColumns } from "./keep-page.ts";
import { countBy } from "./read.ts";

/** Rows that one transaction marks: it has the time of one operation. */
const BATCH = 2_000;

export async function begin(db: Queries, { syncId, connection, kind }: BillPaymentSync): Promise<void> {
  await db
    .insertInto("bill_payment_syncs")
    .values({ sync_id: storableText(syncId), connection, kind })
    .onConflict((conflict) => conflict.column("sync_id").doNothing())
    .execute();
}

export async function knownUntil(db: Queries, connection: string): Promise<number | undefined> {
  const row = await db
    .selectFrom("bill_payment_syncs")
    .select(({ fn }) => fn.max("known_until").as("known_until"))
    .where("connection", "=", connection)
    .where("completed_at", "is not", null)
    .executeTakeFirst();
  return row?.known_until?.getTime();
}

/** Those that no list of a status had are remembered, so that the next round knows which of them were so before. */
export async function compareRound(
  db: Queries,
  connection: string,
  { name, startedAtMs }: FullRound,
  {
    reachMs,
    syncStartedAtMs,
    withStatuses,
  }: { reachMs: number | undefined; syncStartedAtMs: number; withStatuses: boolean },
): Promise<RoundFindings> {
  await lockConnection(db, connection);
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
function seenSince(db: Queries, connection: string, sinceMs: number): Promise<SeenCounts> {
  const since = new Date(sinceMs);
  const status = sql`case when status_observed_at >= ${since} then sync_status end`;
  return countBy(db, connection, sql`observed_at >= ${since}`, status);
}

/** True while there are more: to be called again. */
export async function markMissing(
  db: Queries,
  { connection }: BillPaymentSync,
  round: FullRound,
  writer: Writer,
): Promise<boolean> {
  await lockConnection(db, connection);
  const ids = await someOf(
    db,
    connection,
    sql<boolean>`
    missing_since is null and observed_at < ${new Date(round.startedAtMs)}
      and listed_by is distinct from ${round.name} and status_listed_by is distinct from ${round.name}`,
  );
  const numbers = await appendEvents(
    db,
    accountingChain(connection),
    ids.map((id) => missingEvent(id, writer)),
  );
  await setOn(db, connection, ids, numbers, writer, sql`missing_since = clock_timestamp()`);
  return ids.length === BATCH;
}

/** True while there are more: to be called again. */
export async function markWithoutStatus(
  db: Queries,
  { connection }: BillPaymentSync,
  { name: round, startedAtMs }: FullRound,
  writer: Writer,
): Promise<boolean> {
  await lockConnection(db, connection);
  const ids = await someOf(
    db,
    connection,
    sql<boolean>`
    sync_status is not null and status_observed_at < ${new Date(startedAtMs)} and listed_by = ${round} and status_listed_by is distinct from ${round}
      and unlisted_by is not null`,
  );
  const changes = [{ what: "status" as const, before: "of an earlier list", after: null }];
  const events = ids.map((id) => seenEvent(id, changes, undefined, writer));
  const numbers = await appendEvents(db, accountingChain(connection), events);
  await setOn(db, connection, ids, numbers, writer, sql`sync_status = null`);
  return ids.length === BATCH;
}

/**
 * A recent one that has not settled may have missed a change below what it read, where a payment went between two pages: the ground of before
 * stays, so that the next one reads over it again. A full one has read everything, and says itself what did not agree.
 */
export async function end(
  db: Queries,
  { syncId, kind }: BillPaymentSync,
  { settled, knownUntilMs }: { settled: boolean; knownUntilMs: number | undefined },
): Promise<void> {
  const isGround = knownUntilMs !== undefined && (settled || kind === "full");
  await db
    .updateTable("bill_payment_syncs")
    .set({
      completed_at: sql`clock_timestamp()`,
      settled,
      known_until: isGround ? new Date(knownUntilMs) : null,
    })
    .where("sync_id", "=", storableText(syncId))
    .where("completed_at", "is", null)
    .execute();
}

async function someOf(db: Queries, connection: string, which: ReturnType<typeof sql<boolean>>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select bill_payment_id as id from bill_payments where connection = ${connection} and ${which}
    order by bill_payment_id limit ${BATCH}`.execute(db);
  return rows.map(({ id }) => id);
}

async function setOn(
  db: Queries,
  connection: string,
  ids: readonly string[],
  numbers: readonly (number | undefined)[],
  writer: Writer,
  what: ReturnType<typeof sql>,
): Promise<void> {
  if (ids.length === 0) return;
  const { workflow_id, run_id } = writerColumns(writer);
  await sql`
    update bill_payments set ${what}, event_number = news.number, changed_at = clock_timestamp(),
      workflow_id = ${workflow_id}, run_id = ${run_id}
    from unnest(${ids}::text[], ${numbers.map((number) => number ?? 0)}::bigint[]) as news (id, number)
    where connection = ${connection} and bill_payment_id = news.id`.execute(db);
}
