import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { hasValues } from "../statements.ts";
import { canonicalJson, type Chain } from "./chain.ts";

export type Row = Record<string, unknown>;

/** Tables whose rows have events of their own, one subject each. */
type MainTable = "documents" | "movements" | "purchases" | "bill_payments" | "sync_batches";

/** A row that does not say what its events say. */
export type RowFinding =
  | { kind: "row-changed"; table: MainTable; subject: string; row: string; columns: string[] }
  | { kind: "row-missing"; table: MainTable; subject: string; row: string }
  /** The row names an event that is not there, or that is not the last one of its subject. */
  | { kind: "row-behind"; table: MainTable; subject: string; event: number; last: number | null }
  /** One of the subject's events is none that the product writes, so nothing says what the row was. */
  | { kind: "row-unproven"; table: MainTable; subject: string; event: number };

/** An event, as far as it says something of its subject. */
export interface SubjectEvent {
  number: number;
  kind: string;
  content: string;
  writer: { workflow_id: string; run_id: string };
}

/** Rows of one owner, each of which the events about its subject make. */
export interface ProvenRows<State> {
  table: MainTable;
  /** The columns of the primary key before its last one. */
  owner: Row;
  /** The last one. A subject is the noun, a space, and its value. */
  idColumn: string;
  noun: string;
  /** The kinds of events that make a row. */
  kinds: readonly string[];
  /** Those of which a row's `event_number` names the last; default: all. */
  named?: readonly string[];
  /** The state after an event; `before` is undefined for the first one. */
  after: (before: State | undefined, event: SubjectEvent) => State;
  columnsOf: (state: State, last: SubjectEvent) => Row;
}

/** Rows, and events, in memory at a time: one may have a document of a thousand lines. */
const ROWS_AT_A_TIME = 50;
const EVENTS_AT_A_TIME = 200;
/** Events that one statement looks at. */
const EVENTS_A_LOOK = 10_000;
const WITHIN_MS = 30_000;

/**
 * Holds the rows that a chain tells of against its events, in pages: each row first, then which rows are gone.
 * @returns how many there were
 * @throws LedgerUnavailableError
 */
export async function verifyRows<State>(
  database: Database,
  chain: Chain,
  proven: ProvenRows<State>,
  find: (finding: RowFinding) => void,
): Promise<number> {
  const { table, owner, idColumn } = proven;
  const id = sql.ref(idColumn);
  let count = 0;
  for (let after: string | null = ""; after !== null;) {
    const from: string = after;
    const page: { rows: Row[]; findings: RowFinding[] } = await database.transact(async (db) => {
      // The rows and the events that tell of them are of one state.
      await sql`set transaction isolation level repeatable read read only`.execute(db);
      const { rows } = await sql<Row>`
        select * from ${sql.table(table)} where ${hasValues(owner)} and ${id} > ${from}
        order by ${id} limit ${ROWS_AT_A_TIME}`.execute(db);
      return { rows, findings: await findingsOf(db, chain, proven, rows) };
    }, WITHIN_MS);
    page.findings.forEach(find);
    count += page.rows.length;
    const last = page.rows.at(-1);
    after = last === undefined || page.rows.length < ROWS_AT_A_TIME ? null : String(last[idColumn]);
  }
  for await (const subject of subjectsWithoutRow(database, chain, proven))
    find({ kind: "row-missing", table, subject, row: subject });
  return count;
}

/** What of these rows does not say what their events say. */
export async function findingsOf<State>(
  db: Queries,
  chain: Chain,
  proven: ProvenRows<State>,
  rows: readonly Row[],
): Promise<RowFinding[]> {
  const { table, noun, idColumn } = proven;
  const bySubject = new Map(rows.map((row) => [`${noun} ${String(row[idColumn])}`, row]));
  const told = await toldOf(db, chain, proven, [...bySubject.keys()]);
  return [...bySubject].flatMap(([subject, row]): RowFinding[] => {
    const { state, last, named = null } = told.get(subject) ?? {};
    const event = "event_number" in row ? Number(row["event_number"]) : named;
    if (named === null || named !== event)
      return [{ kind: "row-behind", table, subject, event: event ?? 0, last: named }];
    const expected = last && state !== undefined ? unlessSpoiled(() => proven.columnsOf(state, last)) : undefined;
    if (expected === undefined) return [{ kind: "row-unproven", table, subject, event: named }];
    const columns = differing(expected, row);
    return columns.length > 0 ? [{ kind: "row-changed", table, subject, row: subject, columns }] : [];
  });
}

/** What the events say of a subject. */
interface Told<State> {
  last: SubjectEvent;
  /** The number of the last one that its row names. */
  named: number | undefined;
  /** Undefined where one of them is none that we write. */
  state: State | undefined;
}

/** By subject, each event after the one before it. */
async function toldOf<State>(
  db: Queries,
  chain: Chain,
  { kinds, named = kinds, after }: ProvenRows<State>,
  subjects: readonly string[],
): Promise<Map<string, Told<State>>> {
  const told = new Map<string, Told<State>>();
  for (let [place, number] = [0, 0]; ;) {
    const { rows } = await sql<Omit<SubjectEvent, "writer" | "number"> & EventRow>`
      select wanted.place, wanted.subject, one.*
      from unnest(${subjects.slice(place)}::text[]) with ordinality as wanted (subject, place) cross join lateral (
        select number, kind, content, workflow_id, run_id from events
        where ${hasValues(chain)} and subject = wanted.subject and kind = any(${kinds})
          and number > case when wanted.place = 1 then ${number}::bigint else 0 end
        order by number limit ${EVENTS_AT_A_TIME}) as one
      order by wanted.place, one.number limit ${EVENTS_AT_A_TIME}`.execute(db);
    for (const { subject, kind, content, workflow_id, run_id, ...row } of rows) {
      const last = { number: Number(row.number), kind, content, writer: { workflow_id, run_id } };
      const before = told.get(subject);
      const isSpoiled = before !== undefined && before.state === undefined;
      told.set(subject, {
        last,
        named: named.includes(kind) ? last.number : before?.named,
        state: isSpoiled ? undefined : unlessSpoiled(() => after(before?.state, last)),
      });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < EVENTS_AT_A_TIME) return told;
    place += Number(last.place) - 1;
    number = Number(last.number);
  }
}

interface EventRow {
  place: string;
  subject: string;
  number: string;
  workflow_id: string;
  run_id: string;
}

/** What somebody has written into an event may be anything; the look through the chain has found it. */
function unlessSpoiled<Answer>(read: () => Answer): Answer | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * Subjects of events that have no row, each once, in the order of their last events. It goes through the chain by
 * number, so that no statement takes longer where there are more events.
 */
async function* subjectsWithoutRow(
  database: Database,
  chain: Chain,
  { table, owner, idColumn, noun, kinds }: Pick<ProvenRows<never>, "table" | "owner" | "idColumn" | "noun" | "kinds">,
): AsyncGenerator<string> {
  const isOurs = sql`kind = any(${kinds}) and starts_with(subject, ${`${noun} `})`;
  // The offset keeps each row looked up by its key: joined, the whole table would be read for every piece of the chain.
  const isThere = sql`exists (
    select from ${sql.table(table)} as kept
    where ${hasValues(owner)} and ${sql.ref(`kept.${idColumn}`)} = substr(piece.subject, ${noun.length + 2}) offset 0)`;
  for (let after: string | null = "0"; after !== null;) {
    const from: string = after;
    const look = await database.transact(
      (db) =>
        sql<{ until: string | null; subjects: string[] }>`
          with piece as materialized (
            select number, kind, subject from events
            where ${hasValues(chain)} and number > ${from} order by number limit ${EVENTS_A_LOOK}),
          gone as materialized (select number, subject from piece where ${isOurs} and not ${isThere})
          select (select max(number) from piece) as until, array(
            select subject from gone
            where number = (
              select max(number) from events
              where ${hasValues(chain)} and events.subject = gone.subject and kind = any(${kinds}))
            order by number) as subjects`.execute(db),
      WITHIN_MS,
    );
    const [found] = look.rows;
    yield* found?.subjects ?? [];
    after = found?.until ?? null;
  }
}

/** Expected of a column that has a value which no event tells. */
export const SOME_VALUE = Symbol("some value");

/** The columns whose values differ, JSON by what it says. */
export function differing(expected: Row, actual: Row): string[] {
  return Object.keys(expected).filter((column) => {
    const [wanted, found] = [expected[column], actual[column]];
    return wanted === SOME_VALUE ? found === null : spelt(wanted) !== spelt(found);
  });
}

function spelt(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" && value !== null ? canonicalJson(value) : String(value);
}
