import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appended, appendEvents } from "../events/append-events.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import type { Business, NewEvent, Writer } from "../events/chain.ts";
import { assignments, hasValues, insertRowFrom } from "../statements.ts";
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
  /** Which try it is about, by the table's word for it. */
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

/** @param alias of the table in the statement, where it has one */
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
 * One statement: writes the row, and its event where it was written.
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

/** The execution has ended without a word for the claim, and sends no more. @param held which try it holds */
export async function ended(db: Queries, claim: Claim, held: Columns): Promise<void> {
  const released = update(claim, {}, { under_way_until: null });
  await sql`${released} and ${hasValues(held)} and under_way_until is not null`.execute(db);
}

/** @throws LedgerError for a try that is none: the first is 1 */
export function checkTry(number: number): void {
  if (!Number.isSafeInteger(number) || number < 1 || number > 2_147_483_647)
    throw new LedgerError(`Tries are counted in whole numbers from 1, not ${number}.`);
}
