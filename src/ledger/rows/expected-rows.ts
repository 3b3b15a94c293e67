import { sql } from "kysely";

import type { Queries } from "../database.ts";
import type { Row } from "./row-findings.ts";

export type Chain = { connection: string; business_id: string };

/** An event, as far as it says something of its subject. */
export interface SubjectEvent {
  number: number;
  kind: string;
  content: string;
  writer: { workflow_id: string; run_id: string };
}

/** A row as its subject's events say it must be. */
export interface ExpectedRow {
  columns: Row;
}

/**
 * By subject: the last event that is about it, and the row that all of them make; undefined where one of them is none
 * that we write.
 */
export type ExpectedRows = Map<string, { last: number; expected: ExpectedRow | undefined }>;

/** Of subjects whose last event of the kind says all. */
export async function expectedByLastEvent(
  db: Queries,
  chain: Chain,
  {
    kind,
    subjects,
    expectedBy,
  }: { kind: string; subjects: readonly string[]; expectedBy: (event: SubjectEvent) => ExpectedRow },
): Promise<ExpectedRows> {
  const last = await lastEvents(db, chain, [kind], subjects);
  return new Map(
    [...last].map(([subject, event]) => [
      subject,
      { last: event.number, expected: unlessSpoiled(() => expectedBy(event)) },
    ]),
  );
}

/** Each found by the index: whole histories are neither read nor sorted. */
async function lastEvents(
  db: Queries,
  chain: Chain,
  kinds: readonly string[],
  subjects: readonly string[],
): Promise<Map<string, SubjectEvent>> {
  const { rows } = await sql<EventRow>`
    select wanted.subject, last.* from unnest(${subjects}::text[]) as wanted (subject) cross join lateral (
      select number, kind, content, workflow_id, run_id from events
      where connection = ${chain.connection} and business_id = ${chain.business_id}
        and subject = wanted.subject and kind = any(${kinds})
      order by number desc limit 1) as last`.execute(db);
  return new Map(rows.map((row) => [row.subject, subjectEvent(row)]));
}

/** Events in memory at a time: a subject may have any number of them. */
const EVENTS_AT_A_TIME = 500;

/** Of subjects of which each event says what has changed. */
export async function expectedByAllEvents<State>(
  db: Queries,
  chain: Chain,
  {
    kinds,
    subjects,
    after,
    expectedBy,
  }: {
    kinds: readonly string[];
    subjects: readonly string[];
    /** The state after an event; `before` is undefined for the first one. */
    after: (before: State | undefined, event: SubjectEvent) => State;
    expectedBy: (state: State, last: SubjectEvent) => ExpectedRow;
  },
): Promise<ExpectedRows> {
  const states = new Map<string, { last: SubjectEvent; state: State | undefined }>();
  for await (const [subject, last] of eventsInOrder(db, chain, kinds, subjects)) {
    const before = states.get(subject);
    const isSpoiled = before !== undefined && before.state === undefined;
    const state = isSpoiled ? undefined : unlessSpoiled(() => after(before?.state, last));
    states.set(subject, { last, state });
  }
  return new Map(
    [...states].map(([subject, { last, state }]) => {
      const expected = state === undefined ? undefined : unlessSpoiled(() => expectedBy(state, last));
      return [subject, { last: last.number, expected }];
    }),
  );
}

/** One subject after the other, the eldest event first. */
async function* eventsInOrder(
  db: Queries,
  chain: Chain,
  kinds: readonly string[],
  subjects: readonly string[],
): AsyncGenerator<[string, SubjectEvent]> {
  for (let [place, number] = [0, 0]; ;) {
    const { rows } = await sql<EventRow & { place: string }>`
      select wanted.place, wanted.subject, one.*
      from unnest(${subjects.slice(place)}::text[]) with ordinality as wanted (subject, place) cross join lateral (
        select number, kind, content, workflow_id, run_id from events
        where connection = ${chain.connection} and business_id = ${chain.business_id}
          and subject = wanted.subject and kind = any(${kinds})
          and number > case when wanted.place = 1 then ${number}::bigint else 0 end
        order by number limit ${EVENTS_AT_A_TIME}) as one
      order by wanted.place, one.number limit ${EVENTS_AT_A_TIME}`.execute(db);
    for (const row of rows) yield [row.subject, subjectEvent(row)];
    const last = rows.at(-1);
    if (last === undefined || rows.length < EVENTS_AT_A_TIME) return;
    place += Number(last.place) - 1;
    number = Number(last.number);
  }
}

interface EventRow {
  subject: string;
  number: string;
  kind: string;
  content: string;
  workflow_id: string;
  run_id: string;
}

function subjectEvent({ number, kind, content, workflow_id, run_id }: EventRow): SubjectEvent {
  return { number: Number(number), kind, content, writer: { workflow_id, run_id } };
}

/** What somebody has written into an event may be anything; the look through the chain has found it. */
function unlessSpoiled<Answer>(read: () => Answer): Answer | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
