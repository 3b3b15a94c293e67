import { type RawBuilder, sql } from "kysely";

import type { Database } from "../database.ts";
import type { MainTable } from "./row-findings.ts";
import type { Chain } from "./expected-rows.ts";

/** Events that one statement looks at. */
const EVENTS_A_LOOK = 10_000;
const LOOK_WITHIN_MS = 30_000;

export interface WantedRows {
  table: MainTable;
  /** Of the events that are about its rows. */
  kinds: readonly string[];
  /**
   * Whether a row, called `kept`, is that of a subject of the chain, from `subjects`; by the table's primary key.
   */
  isRowOfSubject: (chain: Chain) => RawBuilder<boolean>;
}

/**
 * Subjects of events that have no row, each once, in the order of their last events. It goes through the chain by
 * number, so that no statement takes longer where there are more events.
 */
export async function* subjectsWithoutRow(
  database: Database,
  chain: Chain,
  { table, kinds, isRowOfSubject }: WantedRows,
): AsyncGenerator<string> {
  // The offset keeps each row looked up by its key: joined, the whole table would be read for every piece of the chain.
  const ofChain = sql`connection = ${chain.connection} and business_id = ${chain.business_id}`;
  for (let after: string | null = "0"; after !== null;) {
    const from: string = after;
    const look = await database.transact(
      (db) =>
        sql<{ until: string | null; subjects: string[] }>`
          with subjects as materialized (
            select number, kind, subject from events
            where ${ofChain} and number > ${from} order by number limit ${EVENTS_A_LOOK}),
          gone as materialized (
            select number, subject from subjects
            where kind = any(${kinds})
              and not exists (select from ${sql.table(table)} as kept where ${isRowOfSubject(chain)} offset 0))
          select (select max(number) from subjects) as until, array(
            select subject from gone
            where number = (
              select max(number) from events
              where ${ofChain} and events.subject = gone.subject and kind = any(${kinds}))
            order by number) as subjects`.execute(db),
      LOOK_WITHIN_MS,
    );
    const [found] = look.rows;
    yield* found?.subjects ?? [];
    after = found?.until ?? null;
  }
}
