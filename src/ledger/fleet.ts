import { sql } from "kysely";

import type { Database } from "./database.ts";

/** What one of the workers does for all of them. A lease, since locks of a session end behind a pooler. */
export type Turn = "count";

export interface NeedsOfPerson {
  code: string;
  documents: number;
  /** The eldest (Unix milliseconds). */
  sinceMs: number;
}

/** Calls whose answer the ledger is owed: their time is over, and nothing has settled them. */
export type OwedAnswers = Record<"document" | "stock-movement" | "sync-batch", number>;

/** What is asked of the ledger by the workers as a fleet, and not for one sale. */
export function createFleet(database: Database) {
  return {
    /**
     * Takes the turn, or keeps it, for so long. The one who has it does not let others wait: it asks again before it ends.
     * @returns whether the turn is this holder's
     * @throws LedgerUnavailableError
     */
    takeTurn: (turn: Turn, holder: string, forMs: number): Promise<boolean> =>
      database.query(async (db) => {
        const until = sql`clock_timestamp() + ${Math.ceil(forMs)} * interval '1 millisecond'`;
        const { rows } = await sql`
          insert into turns (turn, holder, until) values (${turn}, ${holder}, ${until})
          on conflict (turn) do update set holder = excluded.holder, until = excluded.until
          where turns.holder = excluded.holder or turns.until < clock_timestamp()
          returning 1`.execute(db);
        return rows.length > 0;
      }),

    /** What persons are needed for, by code. @throws LedgerUnavailableError */
    needsOfPersons: (): Promise<NeedsOfPerson[]> =>
      database.query(async (db) => {
        const { rows } = await sql<{ code: string; documents: string; since: string }>`
          select a.code, count(distinct (d.connection, d.business_id, d.type, d.number)) as documents,
            min(a."sinceMs") as since
          from documents as d cross join lateral json_to_recordset(d.attentions) as a (code text, "sinceMs" bigint)
          where d.needs_person_since is not null and d.closed is null
          group by a.code`.execute(db);
        return rows.map(({ code, documents, since }) => ({
          code,
          documents: Number(documents),
          sinceMs: Number(since),
        }));
      }),

    /** @throws LedgerUnavailableError */
    owedAnswers: (): Promise<OwedAnswers> =>
      database.query(async (db) => {
        // What a restore has lost is asked for by the workflow that carries it on, if there is one.
        const isOver = sql`((under_way_until is null or under_way_until < now()) and execution is distinct from 'lost')`;
        const { rows } = await sql<Record<keyof OwedAnswers, string>>`
          select (select count(*) from documents where claim = 'in-doubt' and document_id is null and ${isOver}) as "document",
            (select count(*) from movements where state = 'held' and ${isOver}) as "stock-movement",
            (select count(*) from sync_batches where state = 'held' and ${isOver}) as "sync-batch"`.execute(db);
        const [owed] = rows;
        return {
          document: Number(owed?.document),
          "stock-movement": Number(owed?.["stock-movement"]),
          "sync-batch": Number(owed?.["sync-batch"]),
        };
      }),
  };
}
