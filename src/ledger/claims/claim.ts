import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appended, appendEvents, type Business, canonicalJson, type NewEvent, type Writer } from "../events/chain.ts";
import { assignments, clockMs, hasValues, insertRowFrom } from "../statements.ts";
import { storableJson } from "../storable-text.ts";

export type Columns = Readonly<Record<string, unknown>>;

/** The claim that a row is, or has: where it stands, and which events tell of it. */
export interface Claim {
  table: "documents" | "movements" | "sync_batches";
  /** The columns of the primary key. */
  key: Columns;
  chain: Business;
  subject: string;
  /** Begins the kind of each of its events. */
  kind: string;
}

/**
 * What happened to a claim, and the columns that it sets: the claim is all that its events say, one after the other.
 * `detail`: what no column has.
 */
export interface ClaimEvent {
  what: string;
  change?: Columns | undefined;
  detail?: object | undefined;
  /** Which try it is about, as the table calls it. */
  generation?: number;
  intent?: number;
}

export function eventOf({ kind, subject }: Claim, writer: Writer, { what, ...content }: ClaimEvent): NewEvent {
  return { kind: `${kind}${what}`, subject, content: storableJson(content), writer };
}

/** What a claim is after an event. */
export function afterEvent(before: Columns, content: string): Columns {
  const { change } = JSON.parse(content) as Pick<ClaimEvent, "change">;
  return { ...before, ...change };
}

/** As the row keeps it. */
export function columnsOf(change: Columns): Columns {
  return Object.fromEntries(
    Object.entries(change).map(([column, value]) => [
      column,
      typeof value === "object" && value !== null ? toJson(value) : value,
    ]),
  );
}

export function toJson(value: object): string {
  return canonicalJson(storableJson(value));
}

/** @param alias of the table in the statement, if it has one */
export function whereRow({ table, key }: Claim, alias: string = table): RawBuilder<boolean> {
  const named = Object.entries(key).map(([column, value]) => [`${alias}.${column}`, value]);
  return hasValues(Object.fromEntries(named) as Columns);
}

/**
 * Makes the row. A condition may follow.
 * @param columns those that no event tells of: who may be at it, and in which order
 */
export function insertion({ table, key }: Claim, change: Columns, columns: Columns): RawBuilder<unknown> {
  return insertRowFrom(table, { ...key, ...columnsOf(change), ...columns });
}

/** The same for the row that is there. */
export function update(claim: Claim, change: Columns, columns: Columns = {}): RawBuilder<unknown> {
  const changes = assignments({ ...columnsOf(change), ...columns });
  return sql`update ${sql.table(claim.table)} set ${sql.join(changes)} where ${whereRow(claim)}`;
}

/**
 * One statement: writes the row, and its event if it was written.
 * @param write what it returns is one row, or none
 * @returns whether it was written
 */
export async function writeWithEvent(
  db: Queries,
  { chain }: Claim,
  write: RawBuilder<unknown>,
  event: NewEvent,
): Promise<boolean> {
  const { rows } = await sql`with written as (${write}) select ${appended(chain, [event])} from written`.execute(db);
  return rows.length > 0;
}

/** Changes a row that the transaction has locked, and tells of it. */
export async function changeClaim(
  db: Queries,
  claim: Claim,
  writer: Writer,
  event: ClaimEvent,
  columns?: Columns,
): Promise<void> {
  await update(claim, event.change ?? {}, columns).execute(db);
  await appendEvents(db, claim.chain, [eventOf(claim, writer, event)]);
}

/** The execution has ended without an outcome for the claim, and sends no more. @param held which try it holds */
export async function ended(db: Queries, claim: Claim, held: Columns): Promise<void> {
  const released = update(claim, {}, { under_way_until: null });
  await sql`${released} and ${hasValues(held)} and under_way_until is not null`.execute(db);
}

/** @throws LedgerError for a try that is none: the first is 1 */
export function checkTry(number: number): void {
  if (!Number.isSafeInteger(number) || number < 1 || number > 2_147_483_647)
    throw new LedgerError(`Tries are counted in whole numbers from 1, not ${number}.`);
}

/** For people. */
export function holderText({ workflowId, runId }: Writer): string {
  return `${workflowId} (run ${runId})`;
}

/** An execution that has not ended may still send, or wait for its answer, for so long: nobody is to decide upon it. */
export interface UnderWay {
  kind: "in-progress";
  /** Milliseconds. */
  forMs: number;
}

/**
 * Until when the execution that takes a claim now may be at its call. Before then nobody is asked about the call, and no
 * try follows it, although its activity may be over for Temporal:
 *
 * - somebody has ended the activity by hand
 * - a reset has begun another one beside it
 * - its worker stands still, and sends when it goes on, unless its deadline has passed
 *
 * A person who looked then would find nothing, and decide wrongly as soon as the call arrives. The time is the
 * database's, from when the claim is taken. The execution counts by itself from before it asked for the claim (`Deadline`
 * in `src/http/`), so that it gives up first. When it ends, whatever it has sent, this time is taken out of the claim.
 */
export function untilItIsOver(underWayForMs: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + ${Math.ceil(underWayForMs)} * interval '1 millisecond'`;
}

/** Undefined if the execution that held the claim last is over. */
export async function underWay(
  db: Queries,
  { under_way_until: until }: { under_way_until: Date | null },
): Promise<UnderWay | undefined> {
  const forMs = until === null ? 0 : until.getTime() - (await clockMs(db));
  return forMs > 0 ? { kind: "in-progress", forMs } : undefined;
}

/** A run whose execution of a call that is sent at most once took its claim, and never wrote how it ended. */
export interface LostExecution {
  workflowId: string;
  runId: string;
}

/**
 * The runs of which a claim's deadline has passed since then (Unix milliseconds), and whose execution has not ended: it
 * was lost with its worker, or stands still. Also those whose outcome an operator is asked for already. The row of a
 * document names the run that opened it last; that of the claim is in its event.
 */
export async function lostExecutions(db: Queries, sinceMs: number): Promise<LostExecution[]> {
  const { rows } = await sql<LostExecution>`
    select distinct workflow_id as "workflowId", run_id as "runId" from (
      select workflow_id, run_id, under_way_until from movements where state = 'held'
      union all
      select workflow_id, run_id, under_way_until from sync_batches where state = 'held'
      union all
      select taken.workflow_id, taken.run_id, d.under_way_until
      from documents as d cross join lateral (
        select e.workflow_id, e.run_id from events as e
        where (e.connection, e.business_id, e.subject) = (d.connection, d.business_id, d.type || ' ' || d.number)
          and e.kind = 'document-taken'
        order by e.number desc limit 1) as taken
      where d.claim = 'in-doubt'
    ) as open where under_way_until between ${new Date(sinceMs)} and now()`.execute(db);
  return rows;
}
